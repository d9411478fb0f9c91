namespace Treepie.Sessions;

/// <summary>
/// A time series of one document with named values, which are the properties of a class marked with
/// <see cref="TimeSeriesValueAttribute"/>. Otherwise the same as <see cref="SessionTimeSeries"/>.
/// </summary>
/// <typeparam name="T">The class whose properties are the values.</typeparam>
public sealed class TypedTimeSeries<T>
    where T : class, new()
{
    private readonly SessionTimeSeries _series;
    private readonly TimeSeriesShape _shape;

    internal TypedTimeSeries(DocumentSession session, string documentId, string? name)
    {
        _shape = new TimeSeriesShape(typeof(T), session.Queries.Json);
        _series = new SessionTimeSeries(session, documentId, name ?? EnglishPlural.Of(typeof(T).Name));
    }

    /// <summary>Appends an entry with the next save; replaces an entry at the same time.</summary>
    /// <exception cref="InvalidDocumentException">The entry is not valid; the session is unchanged.</exception>
    public void Append(DateTime timestamp, T value, string? tag = null)
    {
        ArgumentNullException.ThrowIfNull(value);
        _series.Append(timestamp, _shape.ValuesOf(value), tag);
    }

    /// <summary>Appends an entry with the next save; replaces an entry at the same time.</summary>
    /// <exception cref="InvalidDocumentException">The entry is not valid; the session is unchanged.</exception>
    public void Append(TimeSeriesEntry<T> entry)
    {
        ArgumentNullException.ThrowIfNull(entry);
        Append(entry.Timestamp, entry.Value, entry.Tag);
    }

    /// <summary>Same as <see cref="SessionTimeSeries.Delete"/>.</summary>
    /// <exception cref="InvalidDocumentException">The range ends before it starts; the session is unchanged.</exception>
    public void Delete(DateTime? from = null, DateTime? to = null) => _series.Delete(from, to);

    /// <summary>Returns the entries of a time range, both ends included, in time order; see
    /// <see cref="SessionTimeSeries.Get"/>.</summary>
    public IReadOnlyList<TimeSeriesEntry<T>> Get(
        DateTime? from = null, DateTime? to = null, int start = 0, int pageSize = int.MaxValue) =>
    [
        .. _series.Get(from, to, start, pageSize).Select(point =>
        {
            var value = new T();
            _shape.Fill(value, point.Values);
            return new TimeSeriesEntry<T>(point.Timestamp, value, point.Tag);
        }),
    ];

    /// <summary>Same as <see cref="Get"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<TimeSeriesEntry<T>>> GetAsync(
        DateTime? from = null, DateTime? to = null, int start = 0, int pageSize = int.MaxValue,
        CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get(from, to, start, pageSize));
    }
}
