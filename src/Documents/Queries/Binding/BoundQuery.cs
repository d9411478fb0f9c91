using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Grouping;
using Treepie.Indexing.Queries;
using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;

namespace Treepie.Queries.Binding;

/// <summary>A query after name resolution: its source, condition, sort order and output. Immutable.</summary>
internal sealed record BoundQuery
{
    public required SourceKind Source { get; init; }

    /// <summary>The collection, or null for all documents. Not set for a named index.</summary>
    public string? Collection { get; init; }

    /// <summary>The groups to query, for <see cref="SourceKind.AutoIndex"/>. Null if documents are queried.</summary>
    public GroupDefinition? Groups { get; init; }

    /// <summary>The query for the documents that are grouped; null if documents are queried, or all are grouped.</summary>
    public BoundQuery? Documents { get; init; }

    /// <summary>The auto-index chosen for the query when it ran before; null if the query is not prepared.</summary>
    public KeptChoice? KeptChoice { get; init; }

    /// <summary>The offset of the condition in the query text; 0 if there is none.</summary>
    public int ConditionPosition { get; init; }

    /// <summary>Name of the index, for <see cref="SourceKind.NamedIndex"/>.</summary>
    public string? IndexName { get; init; }

    /// <summary>
    /// The mapping of that index when the query was bound, if documents add fields to the index while it is built. Null if its
    /// fields are exactly those of its definition.
    /// </summary>
    public StaticIndexMapping? Learning { get; init; }

    /// <summary>The ids, for <see cref="SourceKind.Ids"/>.</summary>
    public IReadOnlyList<string> Ids { get; init; } = [];

    /// <summary>The prefix, for <see cref="SourceKind.IdPrefix"/>.</summary>
    public string IdPrefix { get; init; } = "";

    public IndexQuery Condition { get; init; } = new MatchAllQuery();

    /// <summary>Fields that the condition and the sort order need, with the offset of the first mention.</summary>
    public IReadOnlyList<FieldUse> Fields { get; init; } = [];

    /// <summary>Paths of documents that it names beside <see cref="Fields"/>: in its output, its filter and its groups.</summary>
    public IReadOnlyList<FieldPath> Mentioned { get; init; } = [];

    public IReadOnlyList<SortKey> Sort { get; init; } = [];

    /// <summary>
    /// The keys of the order whose values no index has. In <see cref="Sort"/> they are of the kind <see cref="SortKind.Given"/>,
    /// and have no values until results are examined.
    /// </summary>
    public IReadOnlyList<ExaminedKey> ExaminedKeys { get; init; } = [];

    /// <summary>The script that computes values of <see cref="ExaminedKeys"/> and of facets, or null.</summary>
    public QueryScript? ExaminedScript { get; init; }

    /// <summary>
    /// Whether each hit is examined before hits are ordered or counted: for values that no index has, or for a filter before
    /// facets.
    /// </summary>
    public bool ExaminesHits => ExaminedKeys.Count > 0
        || (Facets.Count > 0 && (Filters || Facets.Any(static facet => facet.Examined is not null)));

    /// <summary>Whether results have a score.</summary>
    public bool IsScored { get; init; }

    public long Skip { get; init; }

    public long Take { get; init; } = long.MaxValue;

    public Projection? Projection { get; init; }

    public bool Distinct { get; init; }

    /// <summary>The documents that are loaded for each result, as far as something is selected of them.</summary>
    public IReadOnlyList<LoadedDocument> Loads { get; init; } = [];

    /// <summary>The fields of the named index that filters and scripts see beside the document.</summary>
    public IReadOnlyList<StoredField> StoredFields { get; init; } = [];

    /// <summary>The script to run on each document, or null.</summary>
    public QueryScript? Script { get; init; }

    /// <summary>
    /// The part of the filter that runs without a script, or null; <see cref="Script"/> contains the rest.
    /// </summary>
    public DocumentFilter? Filter { get; init; }

    /// <summary>Whether documents are filtered after they are found.</summary>
    public bool Filters => Filter is not null || Script is { Filters: true };

    /// <summary>A warning about conditions that no index answers; null if there are none.</summary>
    public string? Warning { get; init; }

    /// <summary>A warning about values of an order or a facet that no index has; null if there are none.</summary>
    public string? ExaminedWarning { get; init; }

    /// <summary>The maximum number of documents that <c>filter</c> examines.</summary>
    public long FilterLimit { get; init; } = long.MaxValue;

    /// <summary>Whether documents that are not indexed yet are searched too.</summary>
    public bool NeverStale { get; init; }

    /// <summary>Facets, whose counts are returned instead of the hits.</summary>
    public IReadOnlyList<BoundFacet> Facets { get; init; } = [];

    /// <summary>Suggestions, which are returned instead of the hits.</summary>
    public IReadOnlyList<BoundSuggestion> Suggestions { get; init; } = [];

    /// <summary>Whether the results are facets or suggestions rather than documents.</summary>
    public bool IsComputed => Facets.Count + Suggestions.Count > 0;

    /// <summary>Whether the result includes timings and the plan: <c>include timings()</c>.</summary>
    public bool WantsTimings { get; init; }

    public IReadOnlyList<FieldPath> IncludePaths { get; init; } = [];

    public IReadOnlyList<string> IncludeIds { get; init; } = [];

    /// <summary>Included data that is stored outside documents.</summary>
    public IReadOnlyList<BesideInclude> BesideIncludes { get; init; } = [];

    /// <summary>
    /// Whether the result depends on data outside the documents of its collection, which can change when they do not.
    /// </summary>
    public bool ReadsBeside { get; init; }

    /// <summary>Fields whose matching words are highlighted.</summary>
    public IReadOnlyList<HighlightRequest> Highlights { get; init; } = [];

    /// <summary>Whether the scores of results are explained.</summary>
    public bool WantsExplanations { get; init; }

    /// <summary>The path of the key that groups explanations in the result, or null for the document id.</summary>
    public FieldPath? ExplanationKey { get; init; }
}

/// <summary>Where the candidates of a query come from.</summary>
internal enum SourceKind
{
    /// <summary>A scan of a collection or of all documents.</summary>
    Collection,

    /// <summary>Documents with the given ids.</summary>
    Ids,

    /// <summary>Documents whose ids have a prefix.</summary>
    IdPrefix,

    /// <summary>An auto-index with the required fields.</summary>
    AutoIndex,

    /// <summary>An index given by name.</summary>
    NamedIndex,
}

/// <summary>A field that a query needs, and the offset where the text mentions it.</summary>
internal readonly record struct FieldUse(AutoIndexField Field, int Position);
