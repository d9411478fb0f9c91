using Treepie.Computations;
using Treepie.Indexing;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Schema;
using Treepie.Store;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// How an index maps documents: which documents, and which of their values to which fields. There are auto-indexes, made by
/// queries, and static indexes, defined by the user. Immutable.
/// </summary>
internal abstract class IndexMapping
{
    /// <summary>The name; mappings with the same name (case-insensitive) are versions of one index.</summary>
    public abstract string Name { get; }

    /// <summary>The distinct collections it covers; empty for all documents.</summary>
    public abstract IReadOnlyList<string> Collections { get; }

    /// <summary>The source of the values of each field of the schema, by position.</summary>
    public abstract IReadOnlyList<AutoIndexField> Fields { get; }

    /// <summary>The fields of the index.</summary>
    public abstract IndexSchema Schema { get; }

    /// <summary>
    /// Fields whose values can be selected by their names in the index. Empty for auto-indexes, whose fields are named by
    /// their paths.
    /// </summary>
    public virtual IReadOnlyList<StoredField> StoredFields => [];

    /// <summary>The names of its fields in queries.</summary>
    public virtual IEnumerable<string> FieldNames => Fields.Select(f => f.SchemaName);

    /// <summary>How documents become groups, if its entries are groups; null if its entries are documents.</summary>
    public virtual Reduction? Reduction => null;

    /// <summary>Where it writes its groups as documents; null if it does not.</summary>
    public virtual OutputTarget? Output => null;

    /// <summary>
    /// The map that computes the objects that are indexed instead of documents; null if documents are indexed directly, or
    /// the index reduces.
    /// </summary>
    public virtual IndexMap? Map => null;

    /// <summary>The map, whether or not its results are reduced; null if there is none.</summary>
    public IndexMap? AnyMap => Reduction?.Map ?? Map;

    /// <summary>The source of its entries.</summary>
    public IndexSourceType Source => AnyMap?.Source ?? IndexSourceType.Documents;

    /// <summary>Whether its entries are objects that it stores, not documents.</summary>
    public bool KeepsObjects => Reduction is not null || Source != IndexSourceType.Documents;

    /// <summary>
    /// Whether one change can affect many entries: its map loads other documents or values, or maps counters or time series.
    /// </summary>
    public bool HasReferences =>
        AnyMap is { LoadedCollections.Count: > 0 } or { LoadsCompareExchange: true } or { Source: not IndexSourceType.Documents };

    /// <summary>Whether it was created by queries and is removed when they no longer need it.</summary>
    public virtual bool IsMadeByQueries => false;

    /// <summary>This definition with a hash in its name, if queries made it; otherwise itself.</summary>
    public virtual IndexMapping WithHash => this;

    /// <summary>The only collection; null for several, or all documents.</summary>
    public string? OnlyCollection => Collections is [{ } only] ? only : null;

    /// <summary>Returns whether the index covers a collection.</summary>
    public bool CoversCollection(string collection)
    {
        foreach (string covered in Collections)
            if (string.Equals(covered, collection, StringComparison.OrdinalIgnoreCase))
                return true;

        return Collections.Count == 0;
    }

    /// <summary>How archived documents are treated.</summary>
    public virtual ArchivedDocuments Archived => ArchivedDocuments.ExcludeArchived;

    /// <summary>Returns whether a document of a covered collection belongs to the index.</summary>
    public bool Wants(Document document) =>
        Archived == ArchivedDocuments.IncludeArchived
            || DocumentArchive.IsArchived(document.Metadata) == (Archived == ArchivedDocuments.ArchivedOnly);

    /// <summary>
    /// Returns the field of this index that answers a query on a field, named as in the schema; null if there is none.
    /// </summary>
    /// <param name="wanted">The name in the query as the path, and the kind of search.</param>
    public abstract AutoIndexField? Resolve(AutoIndexField wanted);

    /// <summary>Returns this mapping with what an index built with the same definition has learned from documents.</summary>
    public virtual IndexMapping AsBuilt(IndexMapping built) => this;

    /// <summary>This mapping without what was learned from documents, for an index that is rebuilt.</summary>
    public virtual IndexMapping Anew => this;

    /// <summary>Returns the analyzers of the program together with those that its fields use.</summary>
    /// <exception cref="IndexSchemaException">An analyzer cannot be created.</exception>
    public virtual AnalyzerSet AnalyzersOver(AnalyzerSet ofProgram) => ofProgram;

    /// <summary>Returns whether it is the same definition, so that an index built with one can be used for the other.</summary>
    public abstract bool IsSameAs(IndexMapping other);
}
