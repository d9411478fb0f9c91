using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>Receives a document that results refer to. The document is valid until the call returns.</summary>
internal delegate void IncludedVisitor(Document document);
