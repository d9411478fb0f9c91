using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>
/// The names of backups at destinations: <c>{database}/</c> followed by the name from <see cref="BackupFileName"/>, which starts
/// with a timestamp, so that names sort by time. Characters in the name of a database that are not allowed in object names are
/// replaced by dashes.
/// </summary>
public static class BackupName
{
    private const string TimeFormat = "yyyy-MM-dd-HH-mm-ss-fff";

    private static readonly (BackupKind Kind, bool IsIncremental, bool IsEncrypted)[] _kinds =
    [
        .. from kind in Enum.GetValues<BackupKind>()
           from isIncremental in (bool[])[false, true]
           where isIncremental || kind != BackupKind.Log
           from isEncrypted in (bool[])[false, true]
           select (kind, isIncremental, isEncrypted),
    ];

    /// <summary>Returns the name of a backup.</summary>
    public static string Of(
        string database, DateTime takenAt, BackupKind kind = BackupKind.Logical, bool isIncremental = false,
        bool isEncrypted = false) =>
        FolderOf(database) + BackupFileName.For(kind, isIncremental, isEncrypted, takenAt);

    /// <summary>Returns the common prefix of the names of a database's backups.</summary>
    public static string FolderOf(string database)
    {
        ArgumentNullException.ThrowIfNull(database);
        var text = new StringBuilder();
        foreach (char c in database)
            text.Append(char.IsAsciiLetterOrDigit(c) || (c is '_' or '-' or '.' && text.Length > 0) ? c : '-');
        return text.Append('/').ToString();
    }

    /// <summary>Parses the name of a backup; returns null if it is not one.</summary>
    public static RestorePoint? Parse(BackupObject item)
    {
        ArgumentNullException.ThrowIfNull(item);
        string[] parts = item.Name.Split('/');
        string file = parts[^1];
        if (file.Length <= TimeFormat.Length
            || !DateTime.TryParseExact(
                file[..TimeFormat.Length], TimeFormat, CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out DateTime takenAt))
            return null;

        foreach ((BackupKind kind, bool isIncremental, bool isEncrypted) in _kinds)
            if (file[TimeFormat.Length..] == BackupFileName.ExtensionOf(kind, isIncremental, isEncrypted))
                return new RestorePoint(
                    parts.Length > 1 ? parts[^2] : "", takenAt, kind, isIncremental, isEncrypted, item.Name, item.LengthBytes);
        return null;
    }

    /// <summary>Lists the backups at a destination, newest first.</summary>
    /// <param name="place">The destination.</param>
    /// <param name="database">The name of the database. Null: lists backups of all databases.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="DestinationException">The destination cannot be listed.</exception>
    public static async Task<IReadOnlyList<RestorePoint>> ListAsync(
        BackupDestination place, string? database = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(place);
        IReadOnlyList<BackupObject> all = await place.ListAsync(database is null ? "" : FolderOf(database), cancellationToken)
            .ConfigureAwait(false);
        return [.. all.Select(Parse).OfType<RestorePoint>().OrderByDescending(static point => point.TakenAt)];
    }

    /// <summary>
    /// Returns the backups needed to restore one, judging by names only, in order: the last full backup before it and every
    /// increment since. For logical backups the actual chain may differ, if there is a backup in between that nothing continues;
    /// a restore checks what each backup continues.
    /// </summary>
    /// <param name="points">All backups at the destination.</param>
    /// <param name="wanted">The backup to restore.</param>
    public static IReadOnlyList<RestorePoint> ChainOf(IReadOnlyList<RestorePoint> points, RestorePoint wanted)
    {
        ArgumentNullException.ThrowIfNull(points);
        ArgumentNullException.ThrowIfNull(wanted);
        var chain = new List<RestorePoint>();
        foreach (RestorePoint point in points.Where(
            point => point.Database == wanted.Database && point.Kind == wanted.Kind && point.TakenAt <= wanted.TakenAt)
                .OrderByDescending(static point => point.TakenAt))
        {
            chain.Insert(0, point);
            if (!point.IsIncremental)
                break;
        }

        return chain;
    }
}

/// <summary>A backup at a destination, as described by its name.</summary>
/// <param name="Database">The name of the database; empty if the backup's name does not contain it.</param>
/// <param name="TakenAt">When it was taken (UTC).</param>
/// <param name="Kind">The kind of the backup.</param>
/// <param name="IsIncremental">Whether it continues the previous one.</param>
/// <param name="IsEncrypted">Whether it is encrypted.</param>
/// <param name="Object">The name of the backup.</param>
/// <param name="LengthBytes">The size in bytes.</param>
public sealed record RestorePoint(
    string Database, DateTime TakenAt, BackupKind Kind, bool IsIncremental, bool IsEncrypted, string Object, long LengthBytes);
