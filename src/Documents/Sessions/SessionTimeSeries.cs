using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// A time series of one document. Changes are made by the next save; reads see only what is saved. Times are UTC. In an
/// incremental time series, whose name starts with <c>INC:</c>, values are added to those already stored at the same time.
/// </summary>
public sealed class SessionTimeSeries
{
    private readonly DocumentSession _session;
    private readonly string _documentId;
    private readonly string _name;

    internal SessionTimeSeries(DocumentSession session, string documentId, string name)
    {
        KindNames.Encode("a time series", name);
        (_session, _documentId, _name) = (session, documentId, name);
    }

    /// <summary>Appends an entry with the next save; replaces an entry at the same time.</summary>
    /// <exception cref="InvalidDocumentException">The entry is not valid; the session is unchanged.</exception>
    public void Append(DateTime timestamp, double value, string? tag = null) => Append(timestamp, [value], tag);

    /// <summary>Appends an entry with several values with the next save; replaces an entry at the same time.</summary>
    /// <exception cref="InvalidDocumentException">The entry is not valid; the session is unchanged.</exception>
    public void Append(DateTime timestamp, IEnumerable<double> values, string? tag = null)
    {
        ArgumentNullException.ThrowIfNull(values);
        var point = new TimeSeriesPoint(SessionTime.Utc(timestamp), [.. values], tag);
        point.Check(_documentId, _name);
        _session.Defer(
            new SessionCommand(
                batch => batch.TimeSeries(_documentId, _name, [point]),
                (_documentId, new SessionChange(SessionChangeKind.TimeSeriesAppended, _name, NewValue: Values(point)))));
    }

    /// <summary>Adds to the value at a time with the next save, in an incremental time series.</summary>
    /// <exception cref="InvalidOperationException">The name of the series does not start with <c>INC:</c>.</exception>
    /// <exception cref="InvalidDocumentException">The entry is not valid; the session is unchanged.</exception>
    public void Increment(DateTime timestamp, double delta)
    {
        if (!_name.StartsWith("INC:", StringComparison.OrdinalIgnoreCase))
            throw new InvalidOperationException(
                $"Values are added to those of a time in series whose name begins with 'INC:', and this one is '{_name}'. Use "
                    + $"Append, or name it 'INC:{_name}'.");
        Append(timestamp, delta);
    }

    /// <summary>
    /// Deletes the entries of a time range with the next save, both ends included. Null: the range is open at that end.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The range ends before it starts; the session is unchanged.</exception>
    public void Delete(DateTime? from = null, DateTime? to = null)
    {
        (DateTime first, DateTime last) = (SessionTime.Utc(from ?? DateTime.MinValue), SessionTime.Utc(to ?? DateTime.MaxValue));
        if (first > last)
            throw new InvalidDocumentException(
                $"The range from {first:O} to {last:O} of the time series '{_name}' of document '{_documentId}' ends before it "
                    + $"begins. Nothing was changed. Turn it round.");
        _session.Defer(
            new SessionCommand(
                batch => batch.TimeSeries(_documentId, _name, [], [(first, last)]),
                (_documentId, new SessionChange(SessionChangeKind.TimeSeriesDeleted, _name))));
    }

    /// <summary>Returns the entries of a time range, both ends included, in time order.</summary>
    /// <param name="from">The start of the range. Null: from the first entry.</param>
    /// <param name="to">The end of the range. Null: to the last entry.</param>
    /// <param name="start">The number of entries to skip.</param>
    /// <param name="pageSize">The maximum number of entries to return.</param>
    public IReadOnlyList<TimeSeriesPoint> Get(
        DateTime? from = null, DateTime? to = null, int start = 0, int pageSize = int.MaxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(start);
        ArgumentOutOfRangeException.ThrowIfNegative(pageSize);
        _session.RequireOpen();
        if (_session.Beside?.Series(_documentId, _name, SessionTime.Utc(from), SessionTime.Utc(to)) is { } included)
            return [.. included.Skip(start).Take(pageSize)];
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return
        [
            .. snapshot.TimeSeries(_documentId, _name, SessionTime.Utc(from), SessionTime.Utc(to)).Skip(start).Take(pageSize),
        ];
    }

    /// <summary>Same as <see cref="Get"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<TimeSeriesPoint>> GetAsync(
        DateTime? from = null, DateTime? to = null, int start = 0, int pageSize = int.MaxValue,
        CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get(from, to, start, pageSize));
    }

    private static JsonArray Values(TimeSeriesPoint point) =>
        new([.. point.Values.Select(static value => (JsonNode?)JsonValue.Create(value))]);
}
