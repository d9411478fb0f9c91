using System.Text.Json;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Storage;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// Places that keep a chain of snapshots, increments and logs. Finds the end of the chain from the files stored there, and
/// writes the next part and a card beside it to all places from one stream. Keeps no state between calls.
/// </summary>
internal sealed class ChainOutput : IDisposable
{
    private readonly Shell _shell;
    private readonly OpenPlaces _places;

    private ChainOutput(Shell shell, OpenPlaces places)
    {
        _shell = shell;
        _places = places;
    }

    /// <summary>Name used in messages.</summary>
    public string Title => string.Join(", ", _places.All.Select(static place => place.Address.Split('?')[0]));

    /// <summary>Addresses of the places that failed, with their errors.</summary>
    public IReadOnlyDictionary<string, Exception> Failures => _places.Failures;

    /// <summary>Opens the places, so that errors appear before the backup starts.</summary>
    public static async Task<ChainOutput> OpenAsync(
        Shell shell, IReadOnlyList<string>? places, CancellationToken cancellationToken) => places is { Count: > 0 }
        ? new ChainOutput(shell, await OpenPlaces.OpenAsync(places, cancellationToken))
        : throw new UsageException(
            "Snapshots, increments and logs are kept at a place, where each finds the one before: give --to with a folder or "
                + "s3://bucket/prefix.");

    /// <summary>
    /// Finds the end of a database's chain. Returns null if a place has none or the places differ; then only a full snapshot is
    /// possible.
    /// </summary>
    public async Task<ChainEnd?> FindEndAsync(string database, EncryptionKey? key, CancellationToken cancellationToken)
    {
        ChainEnd? end = null;
        foreach (BackupDestination place in _places.All)
        {
            var options = new RestoreOptions { BackupKey = key };
            BackupInventory inventory = await BackupInventory.ReadAsync(place, database, options, cancellationToken);
            if (await inventory.FindEndAsync(options, cancellationToken) is not { } here
                || (end is not null && !end.Link.Equals(here.Link)))
                return null;
            end = here;
        }

        return end;
    }

    /// <summary>
    /// Writes a part under a name derived from its kind. A place that fails is skipped as long as another one works.
    /// </summary>
    public async Task<(string Name, T Result)> WriteAsync<T>(
        string database, BackupKind kind, bool isIncremental, bool isSealed, Func<Stream, Task<T>> write,
        CancellationToken cancellationToken)
    {
        await _places.CleanAsync(database, cancellationToken);
        string name = BackupName.Of(database, _shell.Time.GetUtcNow().UtcDateTime, kind, isIncremental, isSealed);
        T result = await _places.WriteAsync(name, _shell.Time, write, cancellationToken);
        return (name, result);
    }

    /// <summary>
    /// Writes the card of a part to each place that has the part. Without the card, the next run reads the part itself.
    /// </summary>
    public async Task WriteCardAsync(BackupCard? card, CancellationToken cancellationToken)
    {
        if (card is null)
            return;
        foreach (BackupDestination place in _places.All.Where(place => !Failures.ContainsKey(place.Address)))
        {
            try
            {
                await card.WriteAsync(place, cancellationToken);
            }
            catch (DestinationException error)
            {
                await _shell.Error.WriteLineAsync(
                    $"The backup is at '{place.Address}', but not the card beside it, so that finding out where it ends takes "
                        + $"longer: {error.Message}");
            }
        }
    }

    /// <summary>Builds the card from the result of a server's operation.</summary>
    public static BackupCard CardOf(string name, JsonElement result) => new()
    {
        Part = name,
        StoreId = result.GetProperty("StoreId").GetGuid(),
        Since = result.GetProperty("Since").GetInt64(),
        Commit = result.GetProperty("LastCommit").GetInt64(),
        CommittedAt = result.GetProperty("LastCommitAt") is { ValueKind: JsonValueKind.String } at
            ? at.GetDateTime().ToUniversalTime()
            : null,
        LastEtag = result.GetProperty("LastEtag").GetInt64(),
        PreviousHash = result.GetProperty("PreviousHash").GetString(),
        Link = result.GetProperty("Link").GetString() ?? "",
    };

    /// <inheritdoc/>
    public void Dispose() => _places.Dispose();
}
