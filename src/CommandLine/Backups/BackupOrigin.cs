using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Storage;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// The backup parts at a place that a command restores or verifies. Finds the parts that lead to the requested point in time.
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

    /// <summary>Name used in messages.</summary>
    public string Title =>
        Selection.Parts.Count == 1
            ? Selection.Parts[0].Name
            : $"{Selection.Parts[^1].Name} and the backups that it continues";

    /// <summary>
    /// Whether this is a single standalone backup without a stop position, which can be sent to a server as a stream.
    /// </summary>
    public bool IsAlone => Selection.Parts.Count == 1 && Selection is { StopAtCommit: null, StopAtTime: null };

    /// <summary>Finds the parts.</summary>
    /// <param name="from">Address of the place.</param>
    /// <param name="name">Name of a backup, or null to select whatever leads to <paramref name="moment"/>.</param>
    /// <param name="database">Name of the database, or null for the one in <paramref name="name"/> or the only one there.</param>
    /// <param name="moment">Where to stop.</param>
    /// <param name="key">Key of sealed parts.</param>
    /// <param name="cancellationToken">Cancels the search.</param>
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
                // A file whose name does not follow the naming scheme is accepted if it exists; its content decides what it is.
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
