using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Indexes.Grouping;
using Treepie.Indexing.Queries;
using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;

namespace Treepie.Queries.Binding;

/// <summary>
/// A query whose words have found their meaning: where to look, for what, in which order, and what to make of it. Immutable.
/// </summary>
internal sealed record BoundQuery
{
    public required SourceKind Source { get; init; }

    /// <summary>The collection; null: all documents. Not set for a named index.</summary>
    public string? Collection { get; init; }

    /// <summary>The groups that are asked about, of <see cref="SourceKind.AutoIndex"/>; null: documents are.</summary>
    public GroupDefinition? Groups { get; init; }

    /// <summary>Where the condition begins in the text; 0 without one.</summary>
    public int ConditionPosition { get; init; }

    /// <summary>Name of the index of <see cref="SourceKind.NamedIndex"/>.</summary>
    public string? IndexName { get; init; }

    /// <summary>
    /// What that index was when the query was bound, where documents give it fields while it is built; null: its fields are those
    /// of its definition.
    /// </summary>
    public StaticIndexMapping? Learning { get; init; }

    /// <summary>Ids of <see cref="SourceKind.Ids"/>.</summary>
    public IReadOnlyList<string> Ids { get; init; } = [];

    /// <summary>Prefix of <see cref="SourceKind.IdPrefix"/>.</summary>
    public string IdPrefix { get; init; } = "";

    public IndexQuery Condition { get; init; } = new MatchAllQuery();

    /// <summary>Fields that condition and order need, with the offset of the first mention.</summary>
    public IReadOnlyList<FieldUse> Fields { get; init; } = [];

    public IReadOnlyList<SortKey> Sort { get; init; } = [];

    /// <summary>Whether results have a score.</summary>
    public bool IsScored { get; init; }

    public long Skip { get; init; }

    public long Take { get; init; } = long.MaxValue;

    public Projection? Projection { get; init; }

    public bool Distinct { get; init; }

    /// <summary>What is computed of each document; null: nothing.</summary>
    public QueryScript? Script { get; init; }

    /// <summary>Which documents are wanted, where that takes no script; null: all, or <see cref="Script"/> says.</summary>
    public DocumentFilter? Filter { get; init; }

    /// <summary>Whether documents are left out after they are found.</summary>
    public bool Filters => Filter is not null || Script is { Filters: true };

    /// <summary>Most documents that <c>filter</c> looks at.</summary>
    public long FilterLimit { get; init; } = long.MaxValue;

    /// <summary>Whether what the index has not seen is looked at too.</summary>
    public bool NeverStale { get; init; }

    /// <summary>Groups in which hits are counted instead of being given.</summary>
    public IReadOnlyList<BoundFacet> Facets { get; init; } = [];

    /// <summary>Terms that may have been meant, instead of hits.</summary>
    public IReadOnlyList<BoundSuggestion> Suggestions { get; init; } = [];

    /// <summary>Whether the answer is computed: facets or suggestions, no documents.</summary>
    public bool IsComputed => Facets.Count + Suggestions.Count > 0;

    /// <summary>Whether the answer tells how it was found: <c>include timings()</c>.</summary>
    public bool WantsTimings { get; init; }

    public IReadOnlyList<FieldPath> IncludePaths { get; init; } = [];

    public IReadOnlyList<string> IncludeIds { get; init; } = [];

    /// <summary>What is included that lies beside documents.</summary>
    public IReadOnlyList<BesideInclude> BesideIncludes { get; init; } = [];

    /// <summary>Whether the answer depends on what lies beside documents, which changes without them.</summary>
    public bool ReadsBeside { get; init; }

    /// <summary>Fields in which found words are to be marked.</summary>
    public IReadOnlyList<HighlightRequest> Highlights { get; init; } = [];

    /// <summary>Whether it is to be said why results have their score.</summary>
    public bool WantsExplanations { get; init; }
}

/// <summary>Where a query looks.</summary>
internal enum SourceKind
{
    /// <summary>Documents of a collection, or all, one after the other.</summary>
    Collection,

    /// <summary>Documents of given ids.</summary>
    Ids,

    /// <summary>Documents whose ids have a prefix.</summary>
    IdPrefix,

    /// <summary>An auto-index with the fields.</summary>
    AutoIndex,

    /// <summary>An index by its name.</summary>
    NamedIndex,
}

/// <summary>A field that a query needs, and where it says so.</summary>
internal readonly record struct FieldUse(AutoIndexField Field, int Position);
