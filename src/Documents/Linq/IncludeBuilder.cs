using System.Linq.Expressions;
using Treepie.Queries.Projecting;

namespace Treepie.Linq;

/// <summary>
/// Selects the related data to load together with documents, from the same snapshot, so that reading it in the session needs no
/// further request:
/// <c>session.Load&lt;Order&gt;(id, includes => includes.IncludeDocuments(o => o.Company).IncludeCounter("likes"))</c>.
/// </summary>
/// <typeparam name="T">The type of the documents.</typeparam>
public sealed class IncludeBuilder<T>
{
    private readonly List<IncludePart> _parts = [];

    internal IncludeBuilder()
    {
    }

    internal IReadOnlyList<IncludePart> Parts => _parts;

    /// <summary>Includes the documents whose ids a member holds.</summary>
    public IncludeBuilder<T> IncludeDocuments(Expression<Func<T, object?>> member) => Add(null, Checked(member));

    /// <summary>Includes a counter of the document.</summary>
    public IncludeBuilder<T> IncludeCounter(string name) => IncludeCounters([name]);

    /// <summary>Includes a counter of the document whose id a member holds.</summary>
    public IncludeBuilder<T> IncludeCounter(Expression<Func<T, object?>> member, string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        return Add(BesideIncludeKind.Counter, Checked(member), part => part with { Name = name });
    }

    /// <summary>Includes several counters of the document.</summary>
    public IncludeBuilder<T> IncludeCounters(IEnumerable<string> names)
    {
        ArgumentNullException.ThrowIfNull(names);
        foreach (string name in names)
        {
            ArgumentException.ThrowIfNullOrWhiteSpace(name, nameof(names));
            Add(BesideIncludeKind.Counter, null, part => part with { Name = name });
        }

        return this;
    }

    /// <summary>Includes all counters of the document.</summary>
    public IncludeBuilder<T> IncludeAllCounters() => Add(BesideIncludeKind.Counter, null);

    /// <summary>Includes all counters of the document whose id a member holds.</summary>
    public IncludeBuilder<T> IncludeAllCounters(Expression<Func<T, object?>> member) =>
        Add(BesideIncludeKind.Counter, Checked(member));

    /// <summary>
    /// Includes a range of a time series of the document, both ends included (UTC, unless their kind is local). Null: the range
    /// is open at that end.
    /// </summary>
    /// <exception cref="ArgumentException">The range ends before it starts.</exception>
    public IncludeBuilder<T> IncludeTimeSeries(string name, DateTime? from = null, DateTime? to = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        (DateTime? first, DateTime? last) = (Utc(from), Utc(to));
        if (first > last)
            throw new ArgumentException(
                $"The range from {first:O} to {last:O} of the time series '{name}' ends before it begins. Turn it round.");
        return Add(BesideIncludeKind.TimeSeries, null, part => part with { Name = name, From = first, To = last });
    }

    /// <summary>Includes the last <paramref name="last"/> entries of a time series of the document.</summary>
    public IncludeBuilder<T> IncludeTimeSeries(string name, int last)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(last);
        return Add(BesideIncludeKind.TimeSeries, null, part => part with { Name = name, LastCount = last });
    }

    /// <summary>Includes the entries of a time series of the document within a period before its last entry.</summary>
    public IncludeBuilder<T> IncludeTimeSeries(string name, TimeSpan last)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentOutOfRangeException.ThrowIfLessThan(last, TimeSpan.FromMilliseconds(1));
        return Add(BesideIncludeKind.TimeSeries, null, part => part with { Name = name, LastTime = last });
    }

    /// <summary>Includes all time series of the document.</summary>
    public IncludeBuilder<T> IncludeAllTimeSeries() => Add(BesideIncludeKind.TimeSeries, null);

    /// <summary>Includes the compare-exchange values whose keys a member holds.</summary>
    public IncludeBuilder<T> IncludeCompareExchangeValue(Expression<Func<T, object?>> member) =>
        Add(BesideIncludeKind.CompareExchange, Checked(member));

    /// <summary>Includes the revisions whose change vectors a member holds.</summary>
    public IncludeBuilder<T> IncludeRevisions(Expression<Func<T, object?>> member) =>
        Add(BesideIncludeKind.Revision, Checked(member));

    /// <summary>
    /// Includes the revision of the document that was current at a point in time (UTC, unless its kind is local).
    /// </summary>
    public IncludeBuilder<T> IncludeRevisions(DateTime before) =>
        Add(BesideIncludeKind.RevisionBefore, null, part => part with { From = Utc(before) });

    private static DateTime? Utc(DateTime? time) =>
        time is not { } given
            ? null
            : given.Kind == DateTimeKind.Local ? given.ToUniversalTime() : DateTime.SpecifyKind(given, DateTimeKind.Utc);

    private static DocumentLambda Checked(LambdaExpression member)
    {
        ArgumentNullException.ThrowIfNull(member);
        return DocumentLambda.Of(member);
    }

    private IncludeBuilder<T> Add(BesideIncludeKind? kind, DocumentLambda? owner, Func<IncludePart, IncludePart>? change = null)
    {
        var part = new IncludePart(kind, owner);
        _parts.Add(change is null ? part : change(part));
        return this;
    }
}
