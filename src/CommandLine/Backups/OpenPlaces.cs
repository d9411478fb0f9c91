using Treepie.BackupTasks;
using Treepie.Destinations;

namespace Treepie.CommandLine.Backups;

/// <summary>Places of a command, opened and asked whether they take what is to come; written to from one stream.</summary>
internal sealed class OpenPlaces : IDisposable
{
    private readonly List<BackupDestination> _all = [];

    private OpenPlaces()
    {
    }

    /// <summary>The places.</summary>
    public IReadOnlyList<BackupDestination> All => _all;

    /// <summary>Places that did not take what was written last, with their reasons.</summary>
    public IReadOnlyDictionary<string, Exception> Failures { get; private set; } = new Dictionary<string, Exception>();

    /// <summary>Opens them and says what is in the way before the long work begins.</summary>
    /// <exception cref="DestinationException">Something is.</exception>
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

    /// <summary>Ends what killed runs left unfinished of a database's backups.</summary>
    public async Task CleanAsync(string database, CancellationToken cancellationToken)
    {
        foreach (BackupDestination place in _all)
            await place.CleanAsync(BackupName.FolderOf(database), cancellationToken);
    }

    /// <summary>Writes an object to all of them; a place that fails is left behind as long as there is another.</summary>
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
