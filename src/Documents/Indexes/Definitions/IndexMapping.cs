using Treepie.Computations;
using Treepie.Indexing;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Schema;
using Treepie.Store;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// What an index makes of documents: whose, and which of their values in which fields. There are two kinds, those that queries
/// made and those defined by hand; what computes its values (C#, JavaScript, map-reduce) would be a third. Immutable.
/// </summary>
internal abstract class IndexMapping
{
    /// <summary>Its name; two with the same name (without case) are versions of one index.</summary>
    public abstract string Name { get; }

    /// <summary>Collections it covers, without repetition; empty: all documents.</summary>
    public abstract IReadOnlyList<string> Collections { get; }

    /// <summary>Where the values of each field of the schema come from, by its position.</summary>
    public abstract IReadOnlyList<AutoIndexField> Fields { get; }

    /// <summary>The fields of the index.</summary>
    public abstract IndexSchema Schema { get; }

    /// <summary>
    /// Fields whose values can be selected by their names in the index; those of indexes that queries made are named by their
    /// paths anyway.
    /// </summary>
    public virtual IReadOnlyList<StoredField> StoredFields => [];

    /// <summary>What its fields are called in queries.</summary>
    public virtual IEnumerable<string> FieldNames => Fields.Select(f => f.SchemaName);

    /// <summary>How documents become groups, where its entries are groups; null: its entries are documents.</summary>
    public virtual Reduction? Reduction => null;

    /// <summary>Where it writes its groups as documents; null: nowhere.</summary>
    public virtual OutputTarget? Output => null;

    /// <summary>
    /// What makes of documents the objects that are indexed in their place; null: documents are indexed as they are, or it
    /// reduces.
    /// </summary>
    public virtual IndexMap? Map => null;

    /// <summary>The map, whether or not its results are reduced; null: there is none.</summary>
    public IndexMap? AnyMap => Reduction?.Map ?? Map;

    /// <summary>What its entries are made from.</summary>
    public IndexSourceType Source => AnyMap?.Source ?? IndexSourceType.Documents;

    /// <summary>Whether its entries are no documents, but objects that it keeps.</summary>
    public bool KeepsObjects => Reduction is not null || Source != IndexSourceType.Documents;

    /// <summary>
    /// Whether one change can concern many entries: its map looks at more than what it maps, or maps what lies beside documents.
    /// </summary>
    public bool HasReferences =>
        AnyMap is { LoadedCollections.Count: > 0 } or { LoadsCompareExchange: true } or { Source: not IndexSourceType.Documents };

    /// <summary>Whether queries made it, and it goes when they need it no more.</summary>
    public virtual bool IsMadeByQueries => false;

    /// <summary>The only collection; null: several, or all documents.</summary>
    public string? OnlyCollection => Collections is [{ } only] ? only : null;

    /// <summary>Whether the document of a collection belongs into the index.</summary>
    public bool CoversCollection(string collection)
    {
        foreach (string covered in Collections)
            if (string.Equals(covered, collection, StringComparison.OrdinalIgnoreCase))
                return true;

        return Collections.Count == 0;
    }

    /// <summary>What is done with archived documents.</summary>
    public virtual ArchivedDocuments Archived => ArchivedDocuments.ExcludeArchived;

    /// <summary>Whether a document of one of its collections belongs into the index.</summary>
    public bool Wants(Document document) =>
        Archived == ArchivedDocuments.IncludeArchived
            || DocumentArchive.IsArchived(document.Metadata) == (Archived == ArchivedDocuments.ArchivedOnly);

    /// <summary>
    /// The field of this index that answers what a query asks of a field, named as in the schema; null if none does.
    /// </summary>
    /// <param name="wanted">Path: the name in the query. Kind: what is asked of it.</param>
    public abstract AutoIndexField? Resolve(AutoIndexField wanted);

    /// <summary>As this one, for an index that was built by the same definition: with what it has learned of documents.</summary>
    public virtual IndexMapping AsBuilt(IndexMapping built) => this;

    /// <summary>As this one, for an index that begins anew: without what was learned of documents.</summary>
    public virtual IndexMapping Anew => this;

    /// <summary>The analyzers that its fields name, beside those of the program.</summary>
    /// <exception cref="IndexSchemaException">One of them cannot be made.</exception>
    public virtual AnalyzerSet AnalyzersOver(AnalyzerSet ofProgram) => ofProgram;

    /// <summary>Whether it is the same definition: an index built by one serves for the other.</summary>
    public abstract bool IsSameAs(IndexMapping other);
}
