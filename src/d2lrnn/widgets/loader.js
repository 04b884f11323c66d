// Runs as a classic inline script inside each explorable of a page without a kernel. A classic script, because
// document.currentScript then says where it stands (no ids needed); a Blob URL, because a page opened from disk may
// import nothing else. Modules are kept on the page by their hash, so that ten instances evaluate one module. A block
// whose content the book's build moved to a file of its own is empty: that file has put it into d2lrnnBlocks before.
(() => {
  const root = document.currentScript.parentElement;
  const modules = (globalThis.d2lrnnModules ??= new Map());
  const blocks = (globalThis.d2lrnnBlocks ??= new Map());

  for (const block of root.querySelectorAll(":scope > script[data-hash]")) {
    const { hash } = block.dataset;
    if (!blocks.has(hash)) blocks.set(hash, JSON.parse(block.textContent));
  }

  const load = (name) => {
    const block = root.querySelector(`:scope > script.d2lrnn-${name}`);
    const { hash } = block.dataset;
    if (!modules.has(hash)) {
      const url = URL.createObjectURL(new Blob([blocks.get(hash)], { type: "text/javascript" }));
      modules.set(hash, import(url).finally(() => URL.revokeObjectURL(url)));
    }
    return modules.get(hash);
  };

  // One copy of each style sheet, in the head: an instance that leaves the page then takes no style with it.
  const style = root.querySelector(":scope > style");
  if (document.head.querySelector(`style[data-hash="${style.dataset.hash}"]`)) style.remove();
  else document.head.append(style);

  Promise.all([load("shim"), load("module")])
    .then(([shim, module]) => shim.default(root, module.default))
    .catch((error) => {
      const note = document.createElement("p");
      note.className = "d2lrnn-error";
      note.textContent = `This figure stopped: ${error.message}`;
      root.querySelector(":scope > .d2lrnn-view").replaceChildren(note);
      root.dataset.ready = "error";
      console.error(error);
    });
})();
