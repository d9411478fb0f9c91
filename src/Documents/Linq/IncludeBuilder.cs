using System.Linq.Expressions;
using Treepie.Queries.Projecting;

namespace Treepie.Linq;

/// <summary>
/// What is brought along with documents, from the same state of the database, so that reading it in the session takes no further
/// request: <c>session.Load&lt;Order&gt;(id, includes => includes.IncludeDocuments(o => o.Company).IncludeCounter("likes"))</c>.
/// </summary>
/// <typeparam name="T">The type of the documents.</typeparam>
public sealed class IncludeBuilder<T>
{
    private readonly List<IncludePart> _parts = [];

    internal IncludeBuilder()
    {
    }

    internal IReadOnlyList<IncludePart> Parts => _parts;

    /// <summary>The documents whose ids a member has.</summary>
    public IncludeBuilder<T> IncludeDocuments(Expression<Func<T, object?>> member) => Add(null, Checked(member));

    /// <summary>A counter of the document.</summary>
    public IncludeBuilder<T> IncludeCounter(string name) => IncludeCounters([name]);

    /// <summary>A counter of the document whose id a member has.</summary>
    public IncludeBuilder<T> IncludeCounter(Expression<Func<T, object?>> member, string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        return Add(BesideIncludeKind.Counter, Checked(member), part => part with { Name = name });
    }

    /// <summary>Counters of the document.</summary>
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

    /// <summary>All counters of the document.</summary>
    public IncludeBuilder<T> IncludeAllCounters() => Add(BesideIncludeKind.Counter, null);

    /// <summary>All counters of the document whose id a member has.</summary>
    public IncludeBuilder<T> IncludeAllCounters(Expression<Func<T, object?>> member) =>
        Add(BesideIncludeKind.Counter, Checked(member));

    /// <summary>A range of a time series of the document, both ends included; null: from or to the end.</summary>
    /// <exception cref="ArgumentException">The range ends before it begins.</exception>
    public IncludeBuilder<T> IncludeTimeSeries(string name, DateTime? from = null, DateTime? to = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        (DateTime? first, DateTime? last) = (Utc(from), Utc(to));
        if (first > last)
            throw new ArgumentException(
                $"The range from {first:O} to {last:O} of the time series '{name}' ends before it begins. Turn it round.");
        return Add(BesideIncludeKind.TimeSeries, null, part => part with { Name = name, From = first, To = last });
    }

    /// <summary>So many of the last entries of a time series of the document.</summary>
    public IncludeBuilder<T> IncludeTimeSeries(string name, int last)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(last);
        return Add(BesideIncludeKind.TimeSeries, null, part => part with { Name = name, LastCount = last });
    }

    /// <summary>The entries of a stretch of time up to the last one of a time series of the document.</summary>
    public IncludeBuilder<T> IncludeTimeSeries(string name, TimeSpan last)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentOutOfRangeException.ThrowIfLessThan(last, TimeSpan.FromMilliseconds(1));
        return Add(BesideIncludeKind.TimeSeries, null, part => part with { Name = name, LastTime = last });
    }

    /// <summary>All time series of the document.</summary>
    public IncludeBuilder<T> IncludeAllTimeSeries() => Add(BesideIncludeKind.TimeSeries, null);

    /// <summary>The compare-exchange values whose keys a member has.</summary>
    public IncludeBuilder<T> IncludeCompareExchangeValue(Expression<Func<T, object?>> member) =>
        Add(BesideIncludeKind.CompareExchange, Checked(member));

    /// <summary>The revisions whose change vectors a member has.</summary>
    public IncludeBuilder<T> IncludeRevisions(Expression<Func<T, object?>> member) =>
        Add(BesideIncludeKind.Revision, Checked(member));

    /// <summary>The state that the document had at a time.</summary>
    public IncludeBuilder<T> IncludeRevisions(DateTime before) =>
        Add(BesideIncludeKind.RevisionBefore, null, part => part with { From = before.ToUniversalTime() });

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
