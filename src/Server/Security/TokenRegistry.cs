using System.Collections.Immutable;

namespace Treepie.Server.Security;

/// <summary>
/// The tokens that the server knows, in memory and kept by an <see cref="AccessStore"/>. Reading takes no lock: every request
/// asks. Changes come one after the other and are durable before they count. Thread-safe.
/// </summary>
internal sealed class TokenRegistry(AccessStore store, TimeProvider clock) : IDisposable
{
    /// <summary>More programs than that are no users of one server.</summary>
    public const int MostTokens = 10_000;

    private readonly SemaphoreSlim _changing = new(1, 1);

    // By their hashes.
    private ImmutableDictionary<string, TokenEntry> _entries = store.Tokens().ToImmutableDictionary(static entry => entry.Hash);

    /// <summary>All of them, by name.</summary>
    public IReadOnlyList<TokenEntry> All =>
    [
        .. Volatile.Read(ref _entries).Values.OrderBy(static entry => entry.Name, StringComparer.OrdinalIgnoreCase)
            .ThenBy(static entry => entry.Id, StringComparer.Ordinal)
    ];

    /// <summary>The token of an id; null if there is none.</summary>
    public TokenEntry? Find(string id) =>
        Volatile.Read(ref _entries).Values
            .FirstOrDefault(entry => string.Equals(entry.Id, id, StringComparison.OrdinalIgnoreCase));

    /// <summary>Whose token a text is, and if nobody's, why not.</summary>
    public (TokenEntry? Entry, string? Complaint) Identify(string text)
    {
        if (TokenText.HashOf(text) is not { } hash || !Volatile.Read(ref _entries).TryGetValue(hash, out TokenEntry? entry))
            return (null, "The token of the request is unknown to this server. Ask an administrator for a new one.");

        return clock.GetUtcNow().UtcDateTime > entry.NotAfter
            ? (null, $"The token '{entry.Name}' ({entry.Id}) expired at {entry.NotAfter:u}. Ask an administrator for a new one.")
            : (entry, null);
    }

    /// <summary>Keeps a new token. Those that expired are forgotten with it.</summary>
    /// <exception cref="WireException">There are too many.</exception>
    public Task AddAsync(TokenEntry entry) => ChangeAsync(entries =>
    {
        DateTime now = clock.GetUtcNow().UtcDateTime;
        TokenEntry[] expired = [.. entries.Values.Where(old => old.NotAfter < now)];
        return entries.Count - expired.Length < MostTokens
            ? ([entry], expired)
            : throw WireException.BadRequest(
                $"The server knows {MostTokens:N0} tokens, which is the most. Delete those that nobody uses any more. Nothing "
                    + $"was changed.");
    });

    /// <summary>Forgets a token; its holder is refused from the next request on.</summary>
    public Task RemoveAsync(TokenEntry entry) => ChangeAsync(_ => ([], [entry]));

    public void Dispose() => _changing.Dispose();

    private async Task ChangeAsync(Func<ImmutableDictionary<string, TokenEntry>, (TokenEntry[] Put, TokenEntry[] Removed)> change)
    {
        await _changing.WaitAsync().ConfigureAwait(false);
        try
        {
            (TokenEntry[] put, TokenEntry[] removed) = change(_entries);
            await store.SaveAsync(put, removed).ConfigureAwait(false);
            Volatile.Write(
                ref _entries,
                _entries.RemoveRange(removed.Select(static entry => entry.Hash))
                    .SetItems(put.Select(static entry => KeyValuePair.Create(entry.Hash, entry))));
        }
        finally
        {
            _changing.Release();
        }
    }
}
