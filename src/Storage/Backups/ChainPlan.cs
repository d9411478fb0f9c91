using System.Diagnostics;

namespace Treepie.Storage.Backups;

/// <summary>
/// Selects the parts needed to reach a point: a snapshot, its increments up to the newest not after the point, and the
/// following log. Rejects parts that are not a chain, with a specific error for each fault.
/// </summary>
internal sealed class ChainPlan
{
    private ChainPlan(IReadOnlyList<int> pages, IReadOnlyList<int> logs)
    {
        Pages = pages;
        Logs = logs;
    }

    /// <summary>The snapshot and its increments, in the order they were taken.</summary>
    public IReadOnlyList<int> Pages { get; }

    /// <summary>The logs, in the order they were taken.</summary>
    public IReadOnlyList<int> Logs { get; }

    /// <summary>Makes a plan from the headers of the parts.</summary>
    public static ChainPlan Make(IReadOnlyList<(string Name, BackupPartHeader Header)> parts, BackupChainOptions options)
    {
        CheckOrder(parts);
        int newest = FindNewest(parts, options);
        var pages = new List<int>();
        for (int at = newest; ; at = Before(parts, at))
        {
            pages.Insert(0, at);
            if (parts[at].Header.Kind == BackupPartKind.Snapshot)
                break;
        }

        Debug.Assert(pages[^1] == newest, "the newest part is the last one that is read");
        return new ChainPlan(pages, FindLogs(parts, parts[newest].Header, options));
    }

    /// <summary>Verifies that all parts belong to one store and are in the order they were taken.</summary>
    private static void CheckOrder(IReadOnlyList<(string Name, BackupPartHeader Header)> parts)
    {
        (string Name, BackupPartHeader Header)? pages = null, log = null;
        foreach ((string name, BackupPartHeader header) in parts)
        {
            if (header.StoreId != parts[0].Header.StoreId)
                throw new BackupPartException(
                    BackupPartFault.Foreign,
                    $"'{name}' is of another store ({header.StoreId}) than '{parts[0].Name}' ({parts[0].Header.StoreId}). Give "
                        + $"the parts of one chain.");

            (string Name, BackupPartHeader Header)? before = header.Kind == BackupPartKind.Log ? log : pages;
            if (before is { } earlier
                && (header.Commit < earlier.Header.Commit
                    || (header.Kind == BackupPartKind.Log && header.Since < earlier.Header.Since)))
                throw new BackupPartException(
                    BackupPartFault.OutOfOrder,
                    $"'{name}' (up to commit {header.Commit}) comes after '{earlier.Name}' (up to commit "
                        + $"{earlier.Header.Commit}), which was taken later. Give the parts in the order they were taken.");
            if (header.Kind == BackupPartKind.Log)
                log = (name, header);
            else
                pages = (name, header);
        }
    }

    private static int FindNewest(IReadOnlyList<(string Name, BackupPartHeader Header)> parts, BackupChainOptions options)
    {
        int newest = -1;
        bool isAny = false;
        for (int i = 0; i < parts.Count; i++)
        {
            BackupPartHeader header = parts[i].Header;
            if (header.Kind == BackupPartKind.Log)
                continue;

            isAny = true;
            if (header.Commit <= (options.StopAtCommit ?? long.MaxValue)
                && (header.CommittedAt ?? header.TakenAt).ToUnixTimeMilliseconds() <= options.StopAtMs)
                newest = i;
        }

        if (newest >= 0)
            return newest;
        (string name, BackupPartHeader first) = parts[0];
        throw isAny
            ? new BackupPartException(
                BackupPartFault.NoSuchPoint,
                $"The point to stop at is before the earliest part: '{name}' is of commit {first.Commit}. "
                    + $"Give an earlier snapshot.")
            : new BackupPartException(
                BackupPartFault.LinkMissing,
                $"'{name}' is a log that continues from commit {first.Since}, but no snapshot is among the parts. Give the "
                    + $"snapshot before it, and the increments to it.");
    }

    /// <summary>Returns the part that an increment continues.</summary>
    private static int Before(IReadOnlyList<(string Name, BackupPartHeader Header)> parts, int increment)
    {
        (string name, BackupPartHeader header) = parts[increment];
        int before = increment - 1;
        while (before >= 0 && parts[before].Header.Kind == BackupPartKind.Log)
            before--;
        if (before < 0)
            throw new BackupPartException(
                BackupPartFault.LinkMissing,
                $"'{name}' has the changes since commit {header.Since}, but no part before it is given. Give the snapshot it "
                    + $"continues, and all increments between.");

        (string other, BackupPartHeader earlier) = parts[before];
        if (earlier.Commit < header.Since)
            throw new BackupPartException(
                BackupPartFault.LinkMissing,
                $"'{name}' has the changes since commit {header.Since}, but the part before it, '{other}', ends with commit "
                    + $"{earlier.Commit}: a part between them is missing.");
        if (earlier.Commit > header.Since)
            throw new BackupPartException(
                BackupPartFault.OutOfOrder,
                $"'{name}' has the changes since commit {header.Since}, but the part before it, '{other}', is later "
                    + $"(commit {earlier.Commit}): it continues another part. Give the parts of one chain, in the order they "
                    + $"were taken.");
        return before;
    }

    private static List<int> FindLogs(
        IReadOnlyList<(string Name, BackupPartHeader Header)> parts, BackupPartHeader from, BackupChainOptions options)
    {
        var logs = new List<int>();
        long reached = from.Commit, wanted = options.StopAtCommit ?? long.MaxValue;
        string last = "the snapshot";
        for (int i = 0; i < parts.Count; i++)
        {
            (string name, BackupPartHeader header) = parts[i];
            if (header.Kind != BackupPartKind.Log || header.Commit <= reached || reached >= wanted)
                continue;
            if (header.Since > reached)
            {
                throw new BackupPartException(
                    BackupPartFault.LinkMissing,
                    $"'{name}' continues from commit {header.Since}, but the part before it ({last}) ends with commit "
                        + $"{reached}: the log between is missing. Give it, or stop at commit {reached}.");
            }

            logs.Add(i);
            reached = header.Commit;
            last = $"'{name}'";
            if ((header.CommittedAt?.ToUnixTimeMilliseconds() ?? 0) > options.StopAtMs)
                break;
        }

        if (options.StopAtCommit is { } stop && reached < stop)
            throw new BackupPartException(
                BackupPartFault.NoSuchPoint,
                $"Commit {stop} is in none of the parts: they end with commit {reached}. Give the log that follows, or stop "
                    + $"there.");
        return logs;
    }
}
