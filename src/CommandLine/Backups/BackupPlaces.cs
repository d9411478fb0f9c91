using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.S3;
using Treepie.Storage.Files;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// Where a command writes a backup: a file, or one or several places at once (<c>--to</c>), straight from the stream.
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

    /// <summary>What it is called, for messages.</summary>
    public string Title => _file ?? string.Join(", ", _places.Select(static place => place.Split('?')[0]));

    /// <summary>Places that did not take it, with their reasons.</summary>
    public IReadOnlyDictionary<string, Exception> Failures { get; private set; } = new Dictionary<string, Exception>();

    /// <summary>By what stands on the command line.</summary>
    /// <exception cref="UsageException">Neither or both are given.</exception>
    public static BackupOutput Of(Shell shell, FileInfo? file, string[]? places) => (file, places) switch
    {
        (null, null or []) =>
            throw new UsageException("Say where to: --output FILE, or --to with a folder or s3://bucket/prefix."),
        (not null, not (null or [])) => throw new UsageException("Give --output or --to, not both."),
        _ => new BackupOutput(shell, file?.FullName, places ?? []),
    };

    /// <summary>Opens the places and says what is in the way before the long work begins.</summary>
    public async Task OpenAsync(CancellationToken cancellationToken)
    {
        if (_file is null)
            _open = await OpenPlaces.OpenAsync(_places, cancellationToken);
    }

    /// <summary>
    /// Writes it; a place that fails is left behind as long as there is another. What a killed run left at the file or the
    /// places is removed first.
    /// </summary>
    public async Task<T> WriteAsync<T>(
        string database, bool isSealed, Func<Stream, Task<T>> write, CancellationToken cancellationToken)
    {
        if (_file is not null)
        {
            // It has the name that it was given, sealed or not.
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

/// <summary>Opens what a command reads a backup from: a file, or the latest or a named one at a place (<c>--from</c>).</summary>
internal static class BackupPlaces
{
    /// <summary>Opens a place.</summary>
    /// <exception cref="DestinationException">The address is none.</exception>
    public static BackupDestination Open(string address) =>
        new DestinationProviders(new S3DestinationProvider()).Open(new DestinationSettings { Address = address });

    /// <summary>Opens the backup, and hands it with its length and name to <paramref name="read"/>.</summary>
    /// <exception cref="UsageException">Nothing is given, or a file that is not there.</exception>
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
