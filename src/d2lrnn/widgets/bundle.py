"""Join an explorable's ES modules into one self-contained module.

A widget travels as a single text: a notebook has no folder to import from, and a page opened from disk may not
import a file beside it. In the repository, though, shared code lives in modules of its own, which node and a browser
can import as they stand. The bundler closes that gap. Each ``import { a, b } from "./x.mjs";`` becomes
``const { a, b } = $x;``, where ``$x`` is the module's source wrapped in a function, so that private names of two
modules never meet; ``import words from "./x.json" with { type: "json" };`` becomes a constant.

It understands these two forms, and `export` before a function, class or const. Whatever else it meets is an error,
never a guess.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path

__all__ = ["BundleError", "bundle"]

_NAME = r"[A-Za-z_$][\w$]*"
_IMPORT = re.compile(r'^import\s*\{(?P<names>[^{}]*)\}\s*from\s*"(?P<file>\.\.?/[\w./-]+\.mjs)";[ \t]*$', re.M)
_FILE = r'"(?P<file>\.\.?/[\w./-]+\.%s)"'
_TYPE = r'\s*with\s*\{\s*type:\s*"%s"\s*\};[ \t]*$'
_IMPORT_JSON = re.compile(rf"^import\s+(?P<name>{_NAME})\s+from\s*" + _FILE % "json" + _TYPE % "json", re.M)
_IMPORT_TEXT = re.compile(rf"^import\s+(?P<name>{_NAME})\s+from\s*" + _FILE % "mjs" + _TYPE % "text", re.M)
_DECLARATION = rf"(?:(?:async\s+)?function\*?|class|const)\s+(?P<name>{_NAME})"
_EXPORTED = re.compile(rf"^export\s+{_DECLARATION}", re.M)
_EXPORT = re.compile(rf"^export\s+(?={_DECLARATION})", re.M)
_EXPORT_DEFAULT = re.compile(r"^export\s+default\b", re.M)
_TOP_LEVEL = re.compile(
    rf"^(?:export\s+)?(?:(?:async\s+)?function\*?|class|const|let|var)\s+(?P<name>{_NAME})", re.M
)
_ANY_IMPORT = re.compile(r"^\s*import\b|\bimport\s*[(.]", re.M)
_ANY_EXPORT = re.compile(r"^\s*export\b", re.M)


class BundleError(ValueError):
    """A module uses something that the bundler does not handle."""


def bundle(entry: Path) -> str:
    """Return the source of `entry` and of all it imports, as one ES module without imports.

    Parameters
    ----------
    entry : Path
        An ``.mjs`` file with exactly one ``export default``; what it imports is named by a relative path.

    Returns
    -------
    str
        The module's source. Equal files give an equal text.

    Raises
    ------
    BundleError
        On a cycle, a missing file, a name that the other module does not export, a name declared twice, or any form
        of import or export other than the ones this module's docstring names.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "maths.mjs").write_text("export const half = (x) => x / 2;")
    >>> _ = (folder / "entry.mjs").write_text('import { half } from "./maths.mjs";\\nexport default half(8);')
    >>> print(bundle(folder / "entry.mjs"))
    const $maths = (() => {
    const half = (x) => x / 2;
    return { half };
    })();
    const { half } = $maths;
    export default half(8);
    """
    return _bundle(Path(entry).resolve())


@cache
def _bundle(entry: Path) -> str:
    source = _read(entry)
    if len(_EXPORT_DEFAULT.findall(source)) != 1:
        raise BundleError(f"{entry.name}: an explorable has exactly one `export default`.")
    if "render" in _exports(source):
        raise BundleError(
            f"{entry.name}: a named export `render` is a deprecated form that hides the default export; "
            "drop its `export`."
        )
    wrapped: dict[Path, str] = {}
    _refuse_other_forms(entry, _EXPORT_DEFAULT.sub("", source))
    rewritten = _rewrite(entry, source, wrapped, trail=(entry,))
    return "".join(wrapped.values()) + rewritten


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BundleError(f"{path.name} is imported but does not exist in {path.parent}.") from None


def _exports(source: str) -> set[str]:
    return {match["name"] for match in _EXPORTED.finditer(source)}


def _variable(path: Path, entry: Path) -> str:
    """The constant that holds a module, named after its way from the entry: ``$maths`` for ``./maths.mjs``."""
    return "$" + re.sub(r"\W", "_", os.path.relpath(path, entry.parent).removesuffix(".mjs"))


def _rewrite(path: Path, source: str, wrapped: dict[Path, str], trail: tuple[Path, ...]) -> str:
    """Replace the imports of one module, adding the modules they name to `wrapped`."""
    declared = [match["name"] for match in _TOP_LEVEL.finditer(source)]

    def replace_module(match: re.Match[str]) -> str:
        file = match["file"]
        names = [name.strip() for name in match["names"].split(",") if name.strip()]
        for name in names:
            if not re.fullmatch(_NAME, name):
                raise BundleError(f"{path.name}: cannot import `{name}` from {file}; import plain names, without `as`.")
        declared.extend(names)
        imported = _beside(path, file)
        exported = _wrap(imported, wrapped, (*trail, imported))
        if missing := sorted(set(names) - exported):
            raise BundleError(f"{path.name}: {file} does not export {', '.join(missing)}.")
        return f"const {{ {', '.join(names)} }} = {_variable(imported, trail[0])};"

    def replace_json(match: re.Match[str]) -> str:
        declared.append(match["name"])
        text = _read(_beside(path, match["file"]))
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise BundleError(f"{path.name}: {match['file']} is not JSON: {error}.") from None
        return f"const {match['name']} = {json.dumps(value, ensure_ascii=False)};"

    def replace_text(match: re.Match[str]) -> str:
        declared.append(match["name"])
        script = _beside(path, match["file"])
        if _exports(_read(script)) or _EXPORT_DEFAULT.search(_read(script)):
            raise BundleError(f"{path.name}: {match['file']} is the script of a worker; it cannot export anything.")
        if script in trail:
            raise BundleError(_circle((*trail, script)))
        own: dict[Path, str] = {}
        _refuse_other_forms(script, _read(script))
        body = _rewrite(script, _read(script), own, (*trail, script))
        return f"const {match['name']} = {json.dumps(''.join(own.values()) + body, ensure_ascii=False)};"

    rewritten = _IMPORT_TEXT.sub(replace_text, source)
    rewritten = _IMPORT.sub(replace_module, _IMPORT_JSON.sub(replace_json, rewritten))
    if twice := sorted({name for name in declared if declared.count(name) > 1}):
        raise BundleError(f"{path.name}: {', '.join(twice)} is declared twice at the top level.")
    return rewritten


def _beside(path: Path, file: str) -> Path:
    """The file that a module names by its way from there."""
    return Path(os.path.normpath(path.parent / file))


def _circle(trail: tuple[Path, ...]) -> str:
    return f"modules import each other in a circle: {' -> '.join(path.name for path in trail)}."


def _wrap(path: Path, wrapped: dict[Path, str], trail: tuple[Path, ...]) -> set[str]:
    """Add a module that another one imports to `wrapped`; return the names it exports."""
    if path in trail[:-1]:
        raise BundleError(_circle(trail))
    source = _read(path)
    exported = _exports(source)
    if path not in wrapped:
        _refuse_other_forms(path, source)
        body = _EXPORT.sub("", _rewrite(path, source, wrapped, trail))
        result = ", ".join(sorted(exported))
        wrapped[path] = f"const {_variable(path, trail[0])} = (() => {{\n{body}\nreturn {{ {result} }};\n}})();\n"
    return exported


def _refuse_other_forms(path: Path, source: str) -> None:
    """Raise on any import or export that would be left over."""
    rest = source
    for known in (_IMPORT_TEXT, _IMPORT_JSON, _IMPORT, _EXPORT):
        rest = known.sub("", rest)
    for pattern, kind in ((_ANY_IMPORT, "import"), (_ANY_EXPORT, "export")):
        if match := pattern.search(rest):
            line = rest[match.start() :].strip().splitlines()[0]
            raise BundleError(
                f"{path.name}: the bundler does not handle this {kind}: `{line}`. It knows "
                '`import { a, b } from "./x.mjs";`, `import words from "./x.json" with { type: "json" };`, '
                '`import SOURCE from "./x.mjs" with { type: "text" };`, and '
                "`export` before a function, class or const."
            )
