using System.Buffers;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// Compare-exchange values of a cluster-wide session. Changes are made by the next save, which fails as a whole if a value no
/// longer has the index at which it was read.
/// </summary>
public sealed class SessionClusterTransaction
{
    private readonly DocumentSession _session;

    internal SessionClusterTransaction(DocumentSession session) => _session = session;

    /// <summary>Returns a compare-exchange value with its index; null if it does not exist.</summary>
    public CompareExchange<T>? Get<T>(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        _session.RequireOpen();
        if (_session.Beside is { } beside && beside.TryCompareExchange(key, out CompareExchangeValue? included))
            return included is null ? null : Read<T>(included);
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.CompareExchange(key) is { } found ? Read<T>(found) : null;
    }

    /// <summary>Same as <see cref="Get"/>; completes synchronously.</summary>
    public ValueTask<CompareExchange<T>?> GetAsync<T>(string key, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get<T>(key));
    }

    /// <summary>
    /// Returns the values whose keys start with a prefix, in key order, from one snapshot; skips the atomic guards that
    /// cluster-wide saves create for documents.
    /// </summary>
    public IReadOnlyList<CompareExchange<T>> GetStartingWith<T>(string prefix, int start = 0, int pageSize = 25)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentOutOfRangeException.ThrowIfNegative(start);
        ArgumentOutOfRangeException.ThrowIfNegative(pageSize);
        _session.RequireOpen();
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return
        [
            .. snapshot.CompareExchangeStartingWith(prefix)
                .Where(static value => !value.IsAtomicGuard)
                .Skip(start)
                .Take(pageSize)
                .Select(Read<T>),
        ];
    }

    /// <summary>Same as <see cref="GetStartingWith"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<CompareExchange<T>>> GetStartingWithAsync<T>(
        string prefix, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetStartingWith<T>(prefix, start, pageSize));
    }

    private CompareExchange<T> Read<T>(CompareExchangeValue found)
    {
        using JsonDocument json = JsonDocument.Parse(
            found.Body, new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        T? value = (T?)json.RootElement.GetProperty("Object").Deserialize(_session.Queries.Json.GetTypeInfo(typeof(T)));
        return new CompareExchange<T>(found.Key, value, found.Index);
    }

    /// <summary>Creates a value with the next save; the save fails if the key exists.</summary>
    /// <exception cref="InvalidOperationException">The session is not cluster-wide.</exception>
    public void Create<T>(string key, T value) => Put(key, value, expectedIndex: 0);

    /// <summary>Changes a value with the next save; the save fails if the value has changed since it was read.</summary>
    /// <exception cref="InvalidOperationException">The session is not cluster-wide.</exception>
    public void Update<T>(CompareExchange<T> read, T value)
    {
        ArgumentNullException.ThrowIfNull(read);
        Put(read.Key, value, read.Index);
    }

    /// <summary>Deletes a value with the next save; the save fails if the value has changed since it was read.</summary>
    /// <exception cref="InvalidOperationException">The session is not cluster-wide.</exception>
    public void Delete<T>(CompareExchange<T> read)
    {
        ArgumentNullException.ThrowIfNull(read);
        RequireClusterWide();
        _session.Defer(
            new SessionCommand(
                batch => batch.DeleteCompareExchange(read.Key, read.Index),
                (read.Key, new SessionChange(SessionChangeKind.CompareExchangeDeleted))));
    }

    private void Put<T>(string key, T value, long expectedIndex)
    {
        KindNames.Encode("a compare-exchange value", key);
        RequireClusterWide();
        var json = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(json))
        {
            writer.WriteStartObject();
            writer.WritePropertyName("Object");
            JsonSerializer.Serialize(writer, value, _session.Queries.Json.GetTypeInfo(typeof(T)));
            writer.WriteEndObject();
        }

        _session.Defer(
            new SessionCommand(
                batch => batch.PutCompareExchange(key, json.WrittenSpan, expectedIndex),
                (key, new SessionChange(SessionChangeKind.CompareExchangePut))));
    }

    private void RequireClusterWide()
    {
        if (!_session.IsClusterWide)
            throw new InvalidOperationException(
                "Compare-exchange values are changed by cluster-wide sessions. Open the session with "
                    + "SessionOptions.IsClusterWide.");
    }
}
