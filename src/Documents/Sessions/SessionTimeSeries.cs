using System.Text.Json.Nodes;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// A time series of one document. Changes are made by the next save; reads see what is saved. Times are UTC; of a series whose
/// name begins with <c>INC:</c> values are added to those of the same time.
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

    /// <summary>Adds an entry with the next save, over that of the same time.</summary>
    /// <exception cref="InvalidDocumentException">It cannot be one; nothing was noted.</exception>
    public void Append(DateTime timestamp, double value, string? tag = null) => Append(timestamp, [value], tag);

    /// <summary>Adds an entry of several values with the next save, over that of the same time.</summary>
    /// <exception cref="InvalidDocumentException">It cannot be one; nothing was noted.</exception>
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

    /// <summary>Adds to the values of a time with the next save; for series whose name begins with <c>INC:</c>.</summary>
    /// <exception cref="InvalidOperationException">Its name does not begin so.</exception>
    /// <exception cref="InvalidDocumentException">It cannot be an entry; nothing was noted.</exception>
    public void Increment(DateTime timestamp, double delta)
    {
        if (!_name.StartsWith("INC:", StringComparison.OrdinalIgnoreCase))
            throw new InvalidOperationException(
                $"Values are added to those of a time in series whose name begins with 'INC:', and this one is '{_name}'. Use "
                    + $"Append, or name it 'INC:{_name}'.");
        Append(timestamp, delta);
    }

    /// <summary>
    /// Deletes the entries of a range of times with the next save, both ends included; null: from or to the end.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The range ends before it begins; nothing was noted.</exception>
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

    /// <summary>Entries of a range of times, both ends included, in their order.</summary>
    /// <param name="from">Null: from the first on.</param>
    /// <param name="to">Null: to the last.</param>
    /// <param name="start">How many to pass over.</param>
    /// <param name="pageSize">How many at most.</param>
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

    /// <summary>As <see cref="Get"/>: reads complete at once.</summary>
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
