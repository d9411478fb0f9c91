namespace Treepie.Indexes;

/// <summary>
/// The definition of a static index: which documents it covers, and which of their values it indexes under which names. Values
/// are selected by path, or computed by maps in C# or JavaScript. Immutable.
/// </summary>
public sealed record IndexDefinition
{
    /// <summary>The maximum length of a name, in bytes of UTF-8.</summary>
    public const int MaxNameBytes = 256;

    /// <summary>The maximum number of fields.</summary>
    public const int MaxFields = 512;

    /// <summary>
    /// The maximum number of dynamic fields (<c>CreateField</c>). Each way in which a name is used counts: full-text, whole
    /// values, stored.
    /// </summary>
    public const int MaxDynamicFields = 1_024;

    /// <summary>The maximum number of collections. To cover more, define an index over all documents.</summary>
    public const int MaxCollections = 128;

    /// <summary>The maximum size of a definition, in bytes of JSON.</summary>
    public const int MaxBytes = 256 * 1024;

    /// <summary>
    /// The name of the index in queries: <c>from index 'Orders/ByCompany'</c>. Any characters except control characters,
    /// case-insensitive; must not start with <c>Auto/</c>, which is reserved for auto-indexes.
    /// </summary>
    public required string Name { get; init; }

    /// <summary>The collections whose documents are indexed. Empty, or <c>@all_docs</c>: all documents.</summary>
    public IReadOnlyList<string> Collections { get; init; } = [];

    /// <summary>
    /// The path of a number greater than 0 in the document by which its scores are multiplied. Null: none. A document without the
    /// number has a boost of 1; so has one with an invalid value, which is also reported in the errors of the index.
    /// </summary>
    public string? Boost { get; init; }

    /// <summary>The fields of the index, with distinct names.</summary>
    public required IReadOnlyList<IndexFieldDefinition> Fields { get; init; }

    /// <summary>
    /// The options of dynamic fields that do not set their own. Null: the defaults. Its name and path are ignored. When a
    /// definition is submitted, these are the options of all fields: <c>__all_fields</c> in RavenDB's definitions.
    /// </summary>
    public IndexFieldDefinition? AllFields { get; init; }

    /// <summary>The options of its fields, including those of all fields.</summary>
    internal IEnumerable<IndexFieldDefinition> FieldOptions => AllFields is null ? Fields : Fields.Append(AllFields);

    /// <summary>
    /// Pairs of fields for which queries that compare the first for equality and sort by the second, as text, read the first
    /// results directly, however many documents are equal. Other pairs, and numeric orders, are learned from queries.
    /// </summary>
    public IReadOnlyList<CompoundField> CompoundFields { get; init; } = [];

    /// <summary>
    /// The maps, in C# or JavaScript. Maps that only select paths are kept for display: <see cref="Collections"/> and
    /// <see cref="Fields"/> then have the same meaning. Empty: the index was not defined by maps.
    /// </summary>
    public IReadOnlyList<string> Maps { get; init; } = [];

    /// <summary>The reduce, in C# or JavaScript. Null: the index is not a map-reduce index.</summary>
    public string? Reduce { get; init; }

    /// <summary>
    /// The collection to which the index writes a document for each reduce result, kept in sync with the results. Null: it writes
    /// none.
    /// </summary>
    public string? OutputReduceToCollection { get; init; }

    /// <summary>
    /// The pattern of the ids of reference documents, which list the output documents with the same values, such as
    /// <c>reports/{Company}/{OrderedAt:yyyy-MM}</c>. Null: none are written.
    /// </summary>
    public string? PatternForOutputReduceToCollectionReferences { get; init; }

    /// <summary>
    /// The collection of the reference documents. Null: the collection of the output documents, followed by <c>/References</c>.
    /// </summary>
    public string? PatternReferencesCollectionName { get; init; }

    /// <summary>How the index treats archived documents; by default it excludes them.</summary>
    public ArchivedDocuments ArchivedDocuments { get; init; }

    /// <summary>Additional JavaScript sources whose functions the maps and the reduce may call, by name.</summary>
    public IReadOnlyDictionary<string, string> AdditionalSources { get; init; } = new Dictionary<string, string>();

    /// <summary>
    /// Settings by RavenDB's names (<c>Indexing.…</c>), kept as they are given. Those that name how RavenDB does its work change
    /// nothing; those that change answers are applied when the definition is read from JSON, or rejected.
    /// </summary>
    public IReadOnlyDictionary<string, string> Configuration { get; init; } = new Dictionary<string, string>();

    /// <summary>
    /// Whether <see cref="Maps"/> compute values, so that the objects they return are indexed instead of the documents. The maps
    /// then determine the collections and the names of the fields, and <see cref="Fields"/> only their options.
    /// </summary>
    public bool Computes { get; init; }
}

/// <summary>A pair of whole-value fields that queries use together.</summary>
/// <param name="Equal">The field that is compared for equality.</param>
/// <param name="Order">The field that sorts the results.</param>
public readonly record struct CompoundField(string Equal, string Order);
