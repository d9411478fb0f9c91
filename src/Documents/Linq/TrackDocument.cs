using Treepie.Store;

namespace Treepie.Linq;

/// <summary>The object of a document, followed by the session.</summary>
internal delegate object? TrackDocument(Document document);
