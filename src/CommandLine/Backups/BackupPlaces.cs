using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.S3;
using Treepie.Storage.Files;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// The target of a backup: a file, or one or more places (<c>--to</c>) that are written at the same time from one stream.
/// </summary>
internal sealed class BackupOutput : IDisposable
{
    private readonly Shell _shell;
    private readonly string? _file;
    private readonly string[] _places;
    private OpenPlaces? _open;

    private BackupOutput(Shell shell, string? file, string[] places)
    {
        _shell = shell;
        _file = file;
        _places = places;
    }

    /// <summary>Name used in messages.</summary>
    public string Title => _file ?? string.Join(", ", _places.Select(static place => place.Split('?')[0]));

    /// <summary>Addresses of the places that failed, with their errors.</summary>
    public IReadOnlyDictionary<string, Exception> Failures { get; private set; } = new Dictionary<string, Exception>();

    /// <summary>Creates the output from the command line options.</summary>
    /// <exception cref="UsageException">Neither or both are given.</exception>
    public static BackupOutput Of(Shell shell, FileInfo? file, string[]? places) => (file, places) switch
    {
        (null, null or []) =>
            throw new UsageException("Say where to: --output FILE, or --to with a folder or s3://bucket/prefix."),
        (not null, not (null or [])) => throw new UsageException("Give --output or --to, not both."),
        _ => new BackupOutput(shell, file?.FullName, places ?? []),
    };

    /// <summary>Opens the places, so that errors appear before the backup starts.</summary>
    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        if (_file is null)
            _open = await OpenPlaces.OpenAsync(_places, cancellationToken);
    }

    /// <summary>
    /// Writes the backup. A place that fails is skipped as long as another one works. Incomplete files of aborted runs at
    /// the file or the places are removed first.
    /// </summary>
    public async Task<T> WriteAsync<T>(
        string database, bool isSealed, Func<Stream, Task<T>> write, CancellationToken cancellationToken)
    {
        if (_file is not null)
        {
            // The file name is used as given, whether or not the backup is sealed.
            DurableFile.RemoveAbandoned(_file);
            return await DurableFile.WriteAsync(_file, write);
        }

        string name = BackupName.Of(database, _shell.Time.GetUtcNow().UtcDateTime, isEncrypted: isSealed);
        OpenPlaces places = _open ?? throw new InvalidOperationException("The places are not open.");
        await places.CleanAsync(database, cancellationToken);
        T result = await places.WriteAsync(name, _shell.Time, write, cancellationToken);
        Failures = places.Failures;
        return result;
    }

    /// <inheritdoc/>
    public void Dispose() => _open?.Dispose();
}

/// <summary>Opens a backup to read: a file, or the latest or a named backup at a place (<c>--from</c>).</summary>
internal static class BackupPlaces
{
    /// <summary>Opens a place.</summary>
    /// <exception cref="DestinationException">The address is not valid.</exception>
    public static BackupDestination Open(string address) =>
        new DestinationProviders(new S3DestinationProvider()).Open(new DestinationSettings { Address = address });

    /// <summary>Opens the backup and passes its stream, length and name to <paramref name="read"/>.</summary>
    /// <exception cref="UsageException">Nothing is given, or the file or backup does not exist.</exception>
    public static async Task<T> ReadAsync<T>(
        string? name, string? from, Func<Stream, long, string, Task<T>> read, CancellationToken cancellationToken)
    {
        if (from is null)
        {
            string path = Path.GetFullPath(
                name ?? throw new UsageException("Say which backup: a FILE, or --from with a folder or s3://bucket/prefix."));
            if (!File.Exists(path))
                throw new UsageException($"File does not exist: '{path}'.");
            await using FileStream file = BackupFile.Open(path);
            return await read(file, file.Length, Path.GetFileName(path));
        }

        using BackupDestination place = Open(from);
        (string item, long length) = name is null
            ? await LatestAsync(place, cancellationToken)
            : await FindAsync(place, name, cancellationToken);
        await using Stream stored = await place.OpenAsync(item, cancellationToken);
        return await read(stored, length, item);
    }

    private static async Task<(string, long)> LatestAsync(BackupDestination place, CancellationToken cancellationToken)
    {
        IReadOnlyList<RestorePoint> points = await BackupName.ListAsync(place, null, cancellationToken);
        if (points.Count == 0)
            throw new UsageException($"There is no backup at '{place.Address}'.");
        string[] databases = [.. points.Select(static point => point.Database).Distinct(StringComparer.Ordinal)];
        return databases.Length == 1
            ? (points[0].Object, points[0].LengthBytes)
            : throw new UsageException(
                $"There are backups of several databases at '{place.Address}': {string.Join(", ", databases)}. Say which, for "
                    + $"instance {points[0].Object}.");
    }

    private static async Task<(string, long)> FindAsync(
        BackupDestination place, string name, CancellationToken cancellationToken) =>
        (await place.ListAsync(name, cancellationToken)).FirstOrDefault(item => item.Name == name) is { } found
            ? (found.Name, found.LengthBytes)
            : throw new UsageException($"There is no backup '{name}' at '{place.Address}'.");
}
