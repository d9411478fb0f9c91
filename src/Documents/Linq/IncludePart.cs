using Treepie.Indexes.Fields;
using Treepie.Kinds;
using Treepie.Queries.Projecting;

namespace Treepie.Linq;

/// <summary>An include: other documents, or related data.</summary>
/// <param name="Kind">The kind of related data; null: documents.</param>
/// <param name="Owner">The member with the id, key or change vector; null: the document itself.</param>
internal sealed record IncludePart(BesideIncludeKind? Kind, DocumentLambda? Owner)
{
    public string? Name { get; init; }

    public DateTime? From { get; init; }

    public DateTime? To { get; init; }

    public int? LastCount { get; init; }

    public TimeSpan? LastTime { get; init; }

    /// <summary>Returns the text in the <c>include</c> clause.</summary>
    public string Text(Translation translation)
    {
        string? owner = Owner is null ? null : translation.Paths.Of(Owner).Text;
        switch (Kind)
        {
            case null:
                return owner ?? ""; // not null: documents are included by member
            case BesideIncludeKind.CompareExchange:
                return $"cmpxchg({owner})";
            case BesideIncludeKind.Revision:
                return $"revisions({owner})";
            case BesideIncludeKind.RevisionBefore:
                return $"revisions({translation.Parameters.Add(From)})";
        }

        var arguments = new List<string>();
        if (owner is not null)
            arguments.Add(owner);
        if (Name is not null)
            arguments.Add(translation.Parameters.Add(Name));
        if (LastCount is { } count)
            arguments.Add($"last({translation.Parameters.Add(count)})");
        else if (LastTime is { } time)
            arguments.Add($"last({translation.Parameters.Add((long)time.TotalMilliseconds)}, 'Milliseconds')");
        else if (Kind == BesideIncludeKind.TimeSeries && (From is not null || To is not null))
            arguments.AddRange([translation.Parameters.Add(From), translation.Parameters.Add(To)]);
        return $"{(Kind == BesideIncludeKind.Counter ? "counters" : "timeseries")}({string.Join(", ", arguments)})";
    }

    /// <summary>Returns the path of the document ids; null for related data.</summary>
    public FieldPath? Documents(PathTranslator paths) => Kind is null ? Path(paths) : null;

    /// <summary>Returns the related data; null for documents.</summary>
    public BesideInclude? Beside(PathTranslator paths) => Kind is not { } kind
        ? null
        : new BesideInclude(kind, Path(paths))
        {
            Name = Name,
            From = From,
            To = To,
            LastCount = LastCount,
            LastTime = LastTime is { } time ? TimeSeriesPeriod.Of(time) : null,
        };

    private FieldPath? Path(PathTranslator paths) =>
        Owner is null
            ? null
            : FieldPath.TryParse(paths.Of(Owner).Text) ?? throw Refusal.Of(Owner.Body, "Name a member that holds an id.");
}
