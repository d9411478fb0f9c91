using Treepie.BackupTasks;
using Treepie.Destinations;

namespace Treepie.CommandLine.Backups;

/// <summary>The places of a command, opened and probed for writing, and written to from one stream.</summary>
internal sealed class OpenPlaces : IDisposable
{
    private readonly List<BackupDestination> _all = [];

    private OpenPlaces()
    {
    }

    /// <summary>The places.</summary>
    public IReadOnlyList<BackupDestination> All => _all;

    /// <summary>Addresses of the places that failed during the last write, with their errors.</summary>
    public IReadOnlyDictionary<string, Exception> Failures { get; private set; } = new Dictionary<string, Exception>();

    /// <summary>Opens and probes the places, so that errors appear before the backup starts.</summary>
    /// <exception cref="DestinationException">A place cannot be used.</exception>
    public static async Task<OpenPlaces> OpenAsync(IReadOnlyList<string> addresses, CancellationToken cancellationToken)
    {
        var places = new OpenPlaces();
        try
        {
            foreach (string address in addresses)
            {
                places._all.Add(BackupPlaces.Open(address));
                await places._all[^1].ProbeAsync(0, cancellationToken);
            }

            return places;
        }
        catch
        {
            places.Dispose();
            throw;
        }
    }

    /// <summary>Removes unfinished backups of a database that aborted runs left behind.</summary>
    public async Task CleanAsync(string database, CancellationToken cancellationToken)
    {
        foreach (BackupDestination place in _all)
            await place.CleanAsync(BackupName.FolderOf(database), cancellationToken);
    }

    /// <summary>Writes an object to all places. A place that fails is skipped as long as another one works.</summary>
    public async Task<T> WriteAsync<T>(
        string name, TimeProvider clock, Func<Stream, Task<T>> write, CancellationToken cancellationToken)
    {
        var uploads = new List<(string, BackupUpload)>();
        foreach (BackupDestination place in _all)
            uploads.Add((place.Address, await place.CreateAsync(name, cancellationToken)));
        await using var all = new UploadStream(uploads, clock, cancellationToken);
        T result = await write(all);
        await all.CommitAsync(cancellationToken);
        Failures = all.Failures;
        return result;
    }

    /// <inheritdoc/>
    public void Dispose() => _all.ForEach(static place => place.Dispose());
}
