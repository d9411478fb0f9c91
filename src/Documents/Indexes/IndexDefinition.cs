namespace Treepie.Indexes;

/// <summary>
/// An index that is defined by hand: which documents, and which of their values under which names. Values are found by path, or
/// computed by maps in C# or JavaScript. Immutable.
/// </summary>
public sealed record IndexDefinition
{
    /// <summary>Longest name, in bytes of UTF-8.</summary>
    public const int MaxNameBytes = 256;

    /// <summary>Most fields.</summary>
    public const int MaxFields = 512;

    /// <summary>
    /// Most fields whose names documents say (<c>CreateField</c>), each use of a name being one: words, whole values, and what is
    /// stored.
    /// </summary>
    public const int MaxDynamicFields = 1_024;

    /// <summary>Most collections; an index over more is one over all documents.</summary>
    public const int MaxCollections = 128;

    /// <summary>Longest definition, in bytes of JSON.</summary>
    public const int MaxBytes = 256 * 1024;

    /// <summary>
    /// The name that queries say: <c>from index 'Orders/ByCompany'</c>. Any characters but control characters, compared without
    /// case; not below <c>Auto/</c>, which is where the indexes are that queries make.
    /// </summary>
    public required string Name { get; init; }

    /// <summary>Collections whose documents it holds; none, or <c>@all_docs</c>: all documents.</summary>
    public IReadOnlyList<string> Collections { get; init; } = [];

    /// <summary>
    /// Path of a number in the document, greater than 0, that its scores are multiplied with; null: none. A document without the
    /// number counts as 1; one whose value is no such number is told in the errors of the index and counts as 1.
    /// </summary>
    public string? Boost { get; init; }

    /// <summary>Its fields, with different names.</summary>
    public required IReadOnlyList<IndexFieldDefinition> Fields { get; init; }

    /// <summary>
    /// Options of the fields whose names documents say, where these give none of their own; null: the defaults. Its name and path
    /// mean nothing. While a definition is put, these are options of all fields: <c>__all_fields</c> of the wire.
    /// </summary>
    public IndexFieldDefinition? AllFields { get; init; }

    /// <summary>The options of its fields, and those of all fields.</summary>
    internal IEnumerable<IndexFieldDefinition> FieldOptions => AllFields is null ? Fields : Fields.Append(AllFields);

    /// <summary>
    /// Pairs of fields for which queries that compare the first for equality and order by the second, as texts, find their first
    /// results at once, however many are equal. Other pairs, and orders as numbers, are learned from queries.
    /// </summary>
    public IReadOnlyList<CompoundField> CompoundFields { get; init; } = [];

    /// <summary>
    /// Maps in C# or JavaScript. Those that only name paths are kept for who reads them: <see cref="Collections"/> and
    /// <see cref="Fields"/> say what they mean. None: it was not defined by maps.
    /// </summary>
    public IReadOnlyList<string> Maps { get; init; } = [];

    /// <summary>The reduce in C# or JavaScript; null: it does not reduce.</summary>
    public string? Reduce { get; init; }

    /// <summary>
    /// The collection of documents that it writes, one for each result of its reduce, and keeps in line with the groups; null: it
    /// writes none.
    /// </summary>
    public string? OutputReduceToCollection { get; init; }

    /// <summary>
    /// Ids of documents that list the outputs with the same values, as <c>reports/{Company}/{OrderedAt:yyyy-MM}</c>; null: there
    /// are none.
    /// </summary>
    public string? PatternForOutputReduceToCollectionReferences { get; init; }

    /// <summary>The collection of those; null: that of the outputs with <c>/References</c> behind it.</summary>
    public string? PatternReferencesCollectionName { get; init; }

    /// <summary>What it does with archived documents; by default it does not hold them.</summary>
    public ArchivedDocuments ArchivedDocuments { get; init; }

    /// <summary>Further code in JavaScript that its texts may call, by name.</summary>
    public IReadOnlyDictionary<string, string> AdditionalSources { get; init; } = new Dictionary<string, string>();

    /// <summary>
    /// Whether <see cref="Maps"/> compute, so that documents are indexed as the objects they make of them. Then they say the
    /// collections and the names of the fields, and <see cref="Fields"/> the options.
    /// </summary>
    public bool Computes { get; init; }
}

/// <summary>Two fields of whole values of an index that queries ask together.</summary>
/// <param name="Equal">The field that is compared for equality.</param>
/// <param name="Order">The field that orders the results.</param>
public readonly record struct CompoundField(string Equal, string Order);
