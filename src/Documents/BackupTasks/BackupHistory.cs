using System.Globalization;
using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>
/// The snapshots, increments and log backups of one store at a destination, and the commits that can be restored from them.
/// Computed from cards only. A restored database is another store, whose backups form another history.
/// </summary>
public sealed class BackupHistory
{
    /// <summary>The maximum number of gaps in a message; all are in the listing of a destination.</summary>
    private const int MaxToldGaps = 3;

    private readonly List<PartAtPlace> _pages;
    private readonly List<PartAtPlace> _logs;

    internal BackupHistory(Guid storeId, IEnumerable<PartAtPlace> parts)
    {
        StoreId = storeId;
        List<PartAtPlace> all = [.. parts];
        _pages = [
            .. all.Where(static part => part.Point.Kind != BackupKind.Log)
                .OrderBy(static part => part.Card.Commit)
                .ThenBy(static part => part.Point.TakenAt)];
        _logs = [
            .. all.Where(static part => part.Point.Kind == BackupKind.Log)
                .OrderBy(static part => part.Card.Since)
                .ThenBy(static part => part.Card.Commit)];
        Newest = all.Max(static part => part.Point.TakenAt);
        (Stretches, Gaps) = Find();
    }

    /// <summary>The id of the store.</summary>
    public Guid StoreId { get; }

    /// <summary>When the newest of its parts was taken (UTC).</summary>
    public DateTime Newest { get; }

    /// <summary>The snapshots and increments, in commit order.</summary>
    public IReadOnlyList<PartAtPlace> Pages => _pages;

    /// <summary>The log backups, in commit order.</summary>
    public IReadOnlyList<PartAtPlace> Logs => _logs;

    /// <summary>The ranges of commits that can be restored, oldest first. Every commit in a range can be restored.</summary>
    public IReadOnlyList<RestorableStretch> Stretches { get; }

    /// <summary>Descriptions of the gaps, naming the parts around each.</summary>
    public IReadOnlyList<string> Gaps { get; }

    /// <summary>Returns the parts needed to restore a point in time, in the order in which they were taken.</summary>
    /// <param name="commit">Exactly this commit; null: determined by the time.</param>
    /// <param name="time">The last commit up to this time (UTC); null, and no commit: the last one.</param>
    /// <param name="chainOf">Returns a snapshot or increment with everything it continues, or null if a part is missing.</param>
    /// <exception cref="BackupException"><see cref="BackupFault.NoSuchPoint"/>: there are none; the message says what is
    /// available around it.</exception>
    internal IReadOnlyList<PartAtPlace> Lead(long? commit, DateTime? time, Func<PartAtPlace, IReadOnlyList<PartAtPlace>?> chainOf)
    {
        (PartAtPlace Base, IReadOnlyList<PartAtPlace> Chain)? found = null;
        for (int i = _pages.Count - 1; i >= 0 && found is null; i--)
            if ((commit is null || _pages[i].Card.Commit <= commit)
                && (time is null || _pages[i].At <= time)
                && chainOf(_pages[i]) is { } chain)
                found = (_pages[i], chain);
        if (found is not { } start)
            throw None(commit, time, $"it is before the earliest part. {Describe()}");

        var parts = new List<PartAtPlace>(start.Chain);
        long reached = start.Base.Card.Commit;
        while (reached < (commit ?? long.MaxValue) && (time is null || parts[^1].At <= time) && NextLog(reached) is { } log)
        {
            parts.Add(log);
            reached = log.Card.Commit;
        }

        if (commit > reached)
            throw None(commit, time, $"the parts lead to commit {reached} only. {Describe()}");
        bool isMore = _pages.Concat(_logs).Any(part => part.Card.Commit > reached);
        if (commit is null && time is null && isMore)
            throw None(
                commit, time,
                $"parts are missing between commit {reached} of {Zulu(parts[^1].At)} and later ones. "
                    + $"{Describe()} Name commit {reached} to restore without those.");
        bool isBetween = time is not null && parts[^1].At <= time && isMore;
        return isBetween
            ? throw None(
                commit, time,
                $"other commits may have followed commit {reached} of {Zulu(parts[^1].At)}, and the log between is missing. "
                    + $"{Describe()}")
            : parts;
    }

    /// <summary>Returns a description of what can be restored and what is missing.</summary>
    public string Describe()
    {
        string restorable = Stretches.Count == 0
            ? "Nothing can be restored from the parts at the place."
            : "What can be restored: " + string.Join("; ", Stretches.Select(static stretch => stretch.ToString())) + ".";
        return Gaps.Count == 0
            ? restorable
            : $"{restorable} Missing: "
                + $"{string.Join(" ", Gaps.Take(MaxToldGaps))}"
                + $"{(Gaps.Count > MaxToldGaps ? $" … and {Gaps.Count - MaxToldGaps} more." : "")}";
    }

    internal static string Zulu(DateTime at) => at.ToString("yyyy-MM-dd HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);

    /// <summary>Determines a chain by commits only; hashes are verified when it is read.</summary>
    internal IReadOnlyList<PartAtPlace>? ChainOf(PartAtPlace page)
    {
        var chain = new List<PartAtPlace> { page };
        while (chain[0].Card.Since >= 0)
        {
            if (_pages.FindLast(
                part => part.Card.Commit == chain[0].Card.Since && part.Point.TakenAt < chain[0].Point.TakenAt) is not { } before)
                return null;
            chain.Insert(0, before);
        }

        return chain;
    }

    private static BackupException None(long? commit, DateTime? time, string why)
    {
        string point = (commit, time) switch
        {
            ({ } number, _) => string.Create(CultureInfo.InvariantCulture, $"commit {number}"),
            (_, { } at) => $"the state of {Zulu(at)}",
            _ => "the last commit",
        };
        return new BackupException(BackupFault.NoSuchPoint, $"Cannot restore {point}: {why}");
    }

    /// <summary>Returns the last commit that log backups reach from a commit.</summary>
    internal long Reach(long commit)
    {
        while (NextLog(commit) is { } log)
            commit = log.Card.Commit;
        return commit;
    }

    /// <summary>Returns the log backup that continues a commit and reaches farthest.</summary>
    private PartAtPlace? NextLog(long reached)
    {
        int low = 0, high = _logs.Count;
        while (low < high) // find the first that begins after the commit
        {
            int middle = (low + high) / 2;
            if (_logs[middle].Card.Since <= reached)
                low = middle + 1;
            else
                high = middle;
        }

        PartAtPlace? best = null;
        for (int i = low - 1; i >= 0 && i >= low - 1 - MaxOverlap; i--)
            if (_logs[i].Card.Commit > Math.Max(reached, best?.Card.Commit ?? 0))
                best = _logs[i];
        return best;
    }

    /// <summary>Log backups of several tasks at one destination overlap; at most this many are examined.</summary>
    private const int MaxOverlap = 1_000;

    private (IReadOnlyList<RestorableStretch> Stretches, IReadOnlyList<string> Gaps) Find()
    {
        var stretches = new List<RestorableStretch>();
        var gaps = new List<string>();
        foreach (PartAtPlace page in _pages)
        {
            if (ChainOf(page) is null)
            {
                gaps.Add(
                    $"'{page.Point.Object}' continues commit {page.Card.Since}, and the snapshot or increment of that commit, or "
                        + "one that it continues, is missing.");
                continue;
            }

            if (stretches.Count > 0 && page.Card.Commit <= stretches[^1].LastCommit)
                continue; // its state is in the range before already
            PartAtPlace last = page;
            while (NextLog(last.Card.Commit) is { } log)
                last = log;
            if (stretches.Count > 0)
                gaps.Add(
                    $"Between '{stretches[^1].LastPart}' (commit {stretches[^1].LastCommit}) and '{page.Point.Object}' (commit "
                        + $"{page.Card.Commit}) there is no log.");
            stretches.Add(
                new RestorableStretch(
                    page.Card.Commit, page.At, page.Point.Object, last.Card.Commit, last.At, last.Point.Object));
        }

        foreach (PartAtPlace log in _logs)
            if (!stretches.Exists(stretch => log.Card.Since <= stretch.LastCommit && stretch.FirstCommit < log.Card.Commit)
                && !(stretches.Count > 0 && log.Card.Commit <= stretches[0].FirstCommit))
                gaps.Add($"'{log.Point.Object}' continues commit {log.Card.Since}, and no part leads to that commit.");
        return (stretches, gaps);
    }
}

/// <summary>A part of a backup chain at a destination.</summary>
/// <param name="Point">The information in its name.</param>
/// <param name="Card">The information in its card or, without one, in the part itself.</param>
public sealed record PartAtPlace(RestorePoint Point, BackupCard Card)
{
    /// <summary>When its last commit was made (UTC), or when it was taken if that is unknown.</summary>
    public DateTime At => Card.CommittedAt ?? Point.TakenAt;
}

/// <summary>A range of commits, each of which can be restored.</summary>
/// <param name="FirstCommit">The first commit.</param>
/// <param name="From">When it was made (UTC).</param>
/// <param name="FirstPart">The snapshot or increment that ends with it.</param>
/// <param name="LastCommit">The last commit.</param>
/// <param name="To">When it was made (UTC).</param>
/// <param name="LastPart">The part that ends with it.</param>
public sealed record RestorableStretch(
    long FirstCommit, DateTime From, string FirstPart, long LastCommit, DateTime To, string LastPart)
{
    /// <inheritdoc/>
    public override string ToString() => FirstCommit == LastCommit
        ? $"commit {FirstCommit} ({BackupHistory.Zulu(From)})"
        : $"each commit from {FirstCommit} ({BackupHistory.Zulu(From)}) to {LastCommit} ({BackupHistory.Zulu(To)})";
}
