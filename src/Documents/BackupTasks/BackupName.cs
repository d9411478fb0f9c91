using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>
/// Names of backups at their places: <c>{database}/</c> and the name <see cref="BackupFileName"/> gives, which begins with the
/// time, so that the order of names is the order of time. A database whose name holds what names of objects cannot has it
/// replaced by a dash.
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

    /// <summary>The name of a backup.</summary>
    public static string Of(
        string database, DateTime takenAt, BackupKind kind = BackupKind.Logical, bool isIncremental = false,
        bool isEncrypted = false) =>
        FolderOf(database) + BackupFileName.For(kind, isIncremental, isEncrypted, takenAt);

    /// <summary>What all names of a database's backups begin with.</summary>
    public static string FolderOf(string database)
    {
        ArgumentNullException.ThrowIfNull(database);
        var text = new StringBuilder();
        foreach (char c in database)
            text.Append(char.IsAsciiLetterOrDigit(c) || (c is '_' or '-' or '.' && text.Length > 0) ? c : '-');
        return text.Append('/').ToString();
    }

    /// <summary>Reads what a name says; null for names of other things.</summary>
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

    /// <summary>All backups at a place, the latest first.</summary>
    /// <param name="place">The place.</param>
    /// <param name="database">Only of this database; null: of all.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="DestinationException">It cannot be listed.</exception>
    public static async Task<IReadOnlyList<RestorePoint>> ListAsync(
        BackupDestination place, string? database = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(place);
        IReadOnlyList<BackupObject> all = await place.ListAsync(database is null ? "" : FolderOf(database), cancellationToken)
            .ConfigureAwait(false);
        return [.. all.Select(Parse).OfType<RestorePoint>().OrderByDescending(static point => point.TakenAt)];
    }

    /// <summary>
    /// What leads to a point as names tell, in order: the last full backup before it and every increment from there. Of logical
    /// backups it may be another one, where a backup lies between that nothing goes on from: whoever restores them looks at what
    /// each says it goes on from.
    /// </summary>
    /// <param name="points">All points of the place.</param>
    /// <param name="wanted">The one to restore.</param>
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

/// <summary>A backup at a place, as its name tells.</summary>
/// <param name="Database">Of which database; empty where the name does not say.</param>
/// <param name="TakenAt">When (UTC).</param>
/// <param name="Kind">What it is made of.</param>
/// <param name="IsIncremental">Whether it goes on from the one before.</param>
/// <param name="IsEncrypted">Whether it is sealed with a key.</param>
/// <param name="Object">Its name.</param>
/// <param name="LengthBytes">Its length.</param>
public sealed record RestorePoint(
    string Database, DateTime TakenAt, BackupKind Kind, bool IsIncremental, bool IsEncrypted, string Object, long LengthBytes);
