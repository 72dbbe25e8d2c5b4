"""The report's panels, one module each; a module in this folder, or one that an entry point names, is a panel.

A panel's module has

- `TITLE`: its heading; `ORDER`: a number, small ones first; `QUESTION`: under which question it is folded, "" for the first screen;
- `build(context) -> Panel | LeftOut`: what to show, or one line that says why not. It computes nothing that `analysis` does
  not, and raises no error for a run that lacks something.
"""
