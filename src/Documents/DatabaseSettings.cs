using System.Collections.Concurrent;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>
/// Settings that programs store in a database: JSON objects by name, included in every snapshot and backup. The database itself
/// does not use them. Thread-safe.
/// </summary>
public sealed class DatabaseSettings
{
    /// <summary>The maximum size of an object in bytes: 256 KiB.</summary>
    public const int MaxBytes = 256 * 1024;

    /// <summary>The number of names up to which missing ones are cached too; there could be any number of them.</summary>
    private const int MostNames = 256;

    /// <summary>The prefix that separates these settings from those of the database itself.</summary>
    internal const string Prefix = "of-programs/";

    private readonly Database _database;
    private readonly Lock _reading = new();
    private readonly ConcurrentDictionary<string, (long Etag, byte[]? Json)> _known = new(StringComparer.Ordinal);

    internal DatabaseSettings(Database database) => _database = database;

    /// <summary>Returns the object with the specified name; null if there is none.</summary>
    public ReadOnlyMemory<byte>? Get(string name)
    {
        byte[]? json = Read(name).Json;
        return json is null ? default(ReadOnlyMemory<byte>?) : json;
    }

    /// <summary>Returns the etag of the last change of a name; 0 if it has no object.</summary>
    public long Etag(string name) => Read(name).Etag;

    /// <summary>Stores an object under a name, or deletes it if null; completes when the change is durable.</summary>
    /// <exception cref="InvalidDocumentException">It is not a JSON object, or too large.</exception>
    public async Task SetAsync(string name, ReadOnlyMemory<byte>? json, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        if (json is { } given)
            Check(name, given);
        using var batch = new WriteBatch(_database.Options);
        await _database.WriteAsync(batch.Setting(Prefix + name, json?.ToArray()), cancellationToken).ConfigureAwait(false);
        lock (_reading)
            _known.TryRemove(name, out _);
    }

    /// <summary>Clears the cache, after settings were written elsewhere.</summary>
    internal void Forget()
    {
        lock (_reading)
            _known.Clear();
    }

    internal static void Check(string name, ReadOnlyMemory<byte> json)
    {
        if (json.Length > MaxBytes)
            throw new InvalidDocumentException(
                $"The setting '{name}' has {json.Length:N0} bytes; {MaxBytes:N0} are allowed. Nothing was changed.");
        try
        {
            using var parsed = JsonDocument.Parse(json);
            if (parsed.RootElement.ValueKind == JsonValueKind.Object)
                return;
        }
        catch (JsonException error)
        {
            throw new InvalidDocumentException($"The setting '{name}' is no JSON. Nothing was changed. {error.Message}");
        }

        throw new InvalidDocumentException($"The setting '{name}' is no JSON object. Nothing was changed.");
    }

    /// <summary>Returns an object and the etag of the change that stored it; null and 0 if there is none.</summary>
    internal (long Etag, byte[]? Json) Read(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        if (_known.TryGetValue(name, out (long, byte[]?) known))
            return known;
        lock (_reading) // a value read before a change must not be cached after it
        {
            using DatabaseSnapshot snapshot = _database.BeginRead();
            (long Etag, byte[]? Json) found = snapshot.SettingWithEtag(Prefix + name);
            return found.Json is null && _known.Count >= MostNames ? found : _known.GetOrAdd(name, found);
        }
    }
}
