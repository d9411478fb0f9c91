using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>Takes a document that results refer to; it lives until this returns.</summary>
internal delegate void IncludedVisitor(Document document);
