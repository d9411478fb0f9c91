namespace Treepie.Queries.Projecting;

/// <summary>A document, or several, that LOAD adds to each result.</summary>
/// <param name="Alias">Its name.</param>
/// <param name="Source">The value that is its id, or an array of ids.</param>
/// <param name="Many">Whether a single id also makes an array of documents.</param>
internal sealed record LoadedDocument(string Alias, ProjectedField Source, bool Many);
