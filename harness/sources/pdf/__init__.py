"""PDF files by pdfium: text lines, drawings, figures."""
