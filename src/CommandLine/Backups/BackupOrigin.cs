using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Storage;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// What a command restores or verifies from a place: finds by itself which parts lead to the moment that is wanted.
/// </summary>
internal sealed class BackupOrigin : IDisposable
{
    private readonly BackupDestination _place;

    private BackupOrigin(BackupDestination place, BackupSelection selection)
    {
        _place = place;
        Selection = selection;
    }

    /// <summary>The parts.</summary>
    public BackupSelection Selection { get; }

    /// <summary>What it is called, for messages.</summary>
    public string Title =>
        Selection.Parts.Count == 1
            ? Selection.Parts[0].Name
            : $"{Selection.Parts[^1].Name} and what it goes on from";

    /// <summary>Whether it is one backup that stands alone, and can be sent along.</summary>
    public bool IsAlone => Selection.Parts.Count == 1 && Selection is { StopAtCommit: null, StopAtTime: null };

    /// <summary>Looks for it.</summary>
    /// <param name="from">The place.</param>
    /// <param name="name">Name of a backup; null: whatever leads to the moment.</param>
    /// <param name="database">Of which database; null: the only one there, or that of the name.</param>
    /// <param name="moment">Where to stop.</param>
    /// <param name="key">Key of sealed parts.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public static async Task<BackupOrigin> FindAsync(
        string from, string? name, string? database, RestoreWish moment, EncryptionKey? key, CancellationToken cancellationToken)
    {
        BackupDestination place = BackupPlaces.Open(from);
        try
        {
            database ??= name is not null && name.LastIndexOf('/') is > 0 and var slash ? name[..slash] : null;
            BackupInventory inventory = await BackupInventory.ReadAsync(
                place, database, new RestoreOptions { BackupKey = key }, cancellationToken);
            if (name is not null
                && inventory.Points.All(
                    point => point.Object != name && !point.Object.EndsWith("/" + name, StringComparison.Ordinal)))
            {
                // A file of another name is taken as what it turns out to be, if it is there.
                if ((await place.ListAsync(name, cancellationToken)).All(item => item.Name != name))
                    throw new UsageException($"There is no backup '{name}' at '{place.Address}'.");
                return new BackupOrigin(
                    place,
                    new BackupSelection(
                        [], [new BackupPart(name, async stop => await place.OpenAsync(name, stop))], moment.Commit, moment.Time));
            }

            return new BackupOrigin(place, inventory.Select(moment with { Object = name }));
        }
        catch (BackupException error) when (error.Fault == BackupFault.NoSuchPoint)
        {
            place.Dispose();
            throw new UsageException(error.Message);
        }
        catch
        {
            place.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _place.Dispose();
}
