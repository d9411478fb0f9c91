using Treepie.Backups;
using Treepie.Destinations;
using Treepie.Storage.Backups;

namespace Treepie.BackupTasks;

/// <summary>
/// The backups of a database at a destination, and what can be restored from them. Reading it lists the destination once, and
/// opens only parts without cards and the cards needed for a restore. Immutable; valid while the destination is open.
/// </summary>
public sealed class BackupInventory
{
    private readonly BackupDestination _place;

    private BackupInventory(
        BackupDestination place, string? database, IReadOnlyList<string> databases, IReadOnlyList<RestorePoint> points,
        IReadOnlyList<BackupHistory> histories, IReadOnlyList<RestorePoint> unknown)
    {
        _place = place;
        Database = database;
        Databases = databases;
        Points = points;
        Histories = histories;
        Unknown = unknown;
    }

    /// <summary>The name of the database; null if there are backups of several databases, or none.</summary>
    public string? Database { get; }

    /// <summary>The databases that have backups at the destination.</summary>
    public IReadOnlyList<string> Databases { get; }

    /// <summary>The backups of the database, newest first; of all databases if <see cref="Database"/> is null.</summary>
    public IReadOnlyList<RestorePoint> Points { get; }

    /// <summary>The snapshots with what continues them, the most recently continued history first.</summary>
    public IReadOnlyList<BackupHistory> Histories { get; }

    /// <summary>
    /// The parts whose predecessor is unknown: they have no card, and are damaged or encrypted with a key that was not given.
    /// </summary>
    public IReadOnlyList<RestorePoint> Unknown { get; }

    /// <summary>Reads the backups at a destination.</summary>
    /// <param name="place">The destination.</param>
    /// <param name="database">The name of the database. Null: the only one there.</param>
    /// <param name="options">Contains the key of encrypted parts, which is needed for those without a card. Null: no key.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <exception cref="DestinationException">The destination cannot be listed or read.</exception>
    public static async Task<BackupInventory> ReadAsync(
        BackupDestination place, string? database, RestoreOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(place);
        IReadOnlyList<BackupObject> objects = await place.ListAsync(
            database is null ? "" : BackupName.FolderOf(database), cancellationToken).ConfigureAwait(false);
        if (database is not null && objects.Count == 0)
            // the destination is the database's own folder
            objects = [
                .. (await place.ListAsync("", cancellationToken).ConfigureAwait(false)).Where(
                    static item => !item.Name.Contains('/', StringComparison.Ordinal))];
        List<RestorePoint> points =
            [.. objects.Select(BackupName.Parse).OfType<RestorePoint>().OrderByDescending(static point => point.TakenAt)];
        string[] databases =
            [.. points.Select(static point => point.Database).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)];
        if (databases.Length != 1)
            return new BackupInventory(place, null, databases, points, [], []);

        ILookup<string, BackupCard> cards = objects.Select(static item => BackupCard.TryParse(item.Name))
            .OfType<BackupCard>()
            .ToLookup(static card => card.Part);
        var parts = new List<PartAtPlace>();
        var unknown = new List<RestorePoint>();
        foreach (RestorePoint point in points.Where(static point => point.Kind != BackupKind.Logical))
        {
            BackupCard? trusted = await TrustedAsync(place, cards[point.Object], cancellationToken).ConfigureAwait(false);
            if ((trusted ?? await ReadHeaderAsync(place, point, options, cancellationToken).ConfigureAwait(false)) is { } card)
                parts.Add(new PartAtPlace(point, card));
            else
                unknown.Add(point);
        }

        return new BackupInventory(
            place, databases[0], databases, points,
            [.. parts.GroupBy(static part => part.Card.StoreId)
                .Select(static group => new BackupHistory(group.Key, group))
                .OrderByDescending(static history => history.Newest)],
            unknown);
    }

    /// <summary>Selects the backups needed to restore a point in time.</summary>
    /// <exception cref="BackupException"><see cref="BackupFault.NoSuchPoint"/>: there are none; the message says what can be
    /// restored.</exception>
    public BackupSelection Select(RestoreWish wish)
    {
        ArgumentNullException.ThrowIfNull(wish);
        if (Points.Count == 0)
            throw new BackupException(
                BackupFault.NoSuchPoint, $"There is no backup at '{_place.Address}'. Give the folder or prefix that holds some.");
        if (Database is null)
            throw new BackupException(
                BackupFault.NoSuchPoint,
                $"There are backups of several databases at '{_place.Address}': {string.Join(", ", Databases)}. Name one.");

        RestorePoint latest = wish.Object is null
            ? Points[0]
            : Points.FirstOrDefault(
                point => point.Object == wish.Object || point.Object.EndsWith("/" + wish.Object, StringComparison.Ordinal))
                ?? throw new BackupException(
                    BackupFault.NoSuchPoint, $"There is no backup '{wish.Object}' at '{_place.Address}'.");
        bool isMoment = wish is { Commit: not null } or { Time: not null };
        if (latest.Kind == BackupKind.Logical && (!isMoment || Histories.Count == 0))
            return isMoment ? throw Unreachable() : OfLogical(latest);

        BackupHistory? history = wish.Object is null
            ? Histories.Count > 0 ? Histories[0] : null
            : Histories.FirstOrDefault(history => history.Pages.Concat(history.Logs).Any(part => part.Point == latest));
        if (history is null)
            throw new BackupException(
                BackupFault.NoSuchPoint,
                $"It is not known which backup '{latest.Object}' continues: it has no card, and is damaged, or sealed with a key "
                    + "that was not given. Give its key, or restore an earlier backup.");
        long? commit = wish.Commit
            ?? (wish.Object is null ? null : history.Pages.Concat(history.Logs).First(part => part.Point == latest).Card.Commit);
        IReadOnlyList<PartAtPlace> lead = history.Lead(commit, wish.Time, history.ChainOf);
        if (wish.Object is null
            && !isMoment
            && Unknown.FirstOrDefault(point => point.TakenAt > lead[^1].Point.TakenAt) is { } unread)
        {
            throw new BackupException(
                BackupFault.NoSuchPoint,
                $"'{unread.Object}' was taken later than '{lead[^1].Point.Object}', and it is not known which backup it "
                + "continues: it has no card, and is damaged, or sealed with a key that was not given. "
                + $"Give its key, or name commit {lead[^1].Card.Commit} to do without it.");
        }

        return Of([.. lead.Select(static part => part.Point)], commit, wish.Time);
    }

    /// <summary>
    /// Returns the link from which the next part of the chain continues, including its position in the log; null if only a
    /// snapshot can be taken. Refers to the most recently continued history; whether that is the current one of the database is
    /// verified when the part is taken.
    /// </summary>
    /// <param name="options">Contains the key of encrypted parts. Needed if the last part has no card; it is then read in
    /// full.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    public async Task<ChainEnd?> FindEndAsync(RestoreOptions? options = null, CancellationToken cancellationToken = default)
    {
        if (Histories.Count == 0
            || Histories[0] is not { } history
            || history.Pages.LastOrDefault(page => history.ChainOf(page) is not null) is not { } newest)
            return null;
        BackupCard? card = await newest.Card.ReadAsync(_place, cancellationToken).ConfigureAwait(false);
        BackupLink? link = card is { Link.Length: > 0 }
            ? BackupLink.Parse(card.Link)
            : await ReadLinkAsync(newest.Point, options, cancellationToken).ConfigureAwait(false);
        if (link is null)
            return null;

        // The log may end before the last snapshot: continuing from there, it has no gap.
        long reached = history.Reach(newest.Card.Commit);
        PartAtPlace? last = history.Logs.LastOrDefault(log => log.Card.Commit <= reached);
        return new ChainEnd(new BackupLink(link.Hash, last?.Card.Commit ?? reached, link.Stores));
    }

    private BackupException Unreachable() => new(
        BackupFault.NoSuchPoint,
        $"The backups of '{Database}' at '{_place.Address}' are logical ones, each of one moment: name one of them. A commit or "
            + $"a time can be chosen where there are snapshots and their log.");

    /// <summary>
    /// Returns the backups needed for a logical backup, judging by names; the reader of the last part selects among all possible
    /// predecessors.
    /// </summary>
    private BackupSelection OfLogical(RestorePoint latest)
    {
        BackupSelection named = Of(BackupName.ChainOf(Points, latest), null, null);
        if (!latest.IsIncremental)
            return named;
        BackupPart[] earlier =
        [
            .. Points.Where(point => point.Kind == BackupKind.Logical && point.TakenAt <= latest.TakenAt && point != latest)
                .Select(PartOf),
        ];
        return named with { Parts = [.. named.Parts.SkipLast(1), named.Parts[^1] with { Earlier = earlier }] };
    }

    private BackupSelection Of(IReadOnlyList<RestorePoint> points, long? commit, DateTime? time) =>
        new(points, [.. points.Select(PartOf)], commit, time);

    private BackupPart PartOf(RestorePoint point) =>
        new(point.Object, async stop => await _place.OpenAsync(point.Object, stop).ConfigureAwait(false));

    /// <summary>
    /// Returns the first intact card; null if there is none. A card without a checksum in its name is trusted if its content
    /// matches its name.
    /// </summary>
    private static async Task<BackupCard?> TrustedAsync(
        BackupDestination place, IEnumerable<BackupCard> cards, CancellationToken cancellationToken)
    {
        foreach (BackupCard card in cards)
            if (card.IsChecked || await card.ReadAsync(place, cancellationToken).ConfigureAwait(false) is not null)
                return card;
        return null;
    }

    /// <summary>Removes the key for an unencrypted part.</summary>
    private static RestoreOptions KeysOf(RestorePoint point, RestoreOptions? options) =>
        point.IsEncrypted && options is not null ? options : new RestoreOptions();

    /// <summary>Reads the header of a part without a card; null if it cannot be read.</summary>
    private static async Task<BackupCard?> ReadHeaderAsync(
        BackupDestination place, RestorePoint point, RestoreOptions? options, CancellationToken cancellationToken)
    {
        try
        {
            var part = new BackupPart(
                point.Object, async stop => await place.OpenAsync(point.Object, stop).ConfigureAwait(false));
            BackupChainPart opened = new PartSource(KeysOf(point, options)).Of(part);
            BackupPartHeader header = await BackupPartHeader.ReadAsync(
                await opened.OpenAsync(cancellationToken).ConfigureAwait(false), opened.Name,
                cancellationToken).ConfigureAwait(false);
            return new BackupCard
            {
                Part = point.Object,
                StoreId = header.StoreId,
                Since = header.Since,
                Commit = header.Commit,
                CommittedAt = header.CommittedAt?.UtcDateTime,
                PreviousHash = header.PreviousHash.Length == 0 ? null : header.PreviousHash,
            };
        }
        catch (Exception error) when (BackupException.From(error) is not null)
        {
            return null;
        }
    }

    /// <summary>Reads a whole part to determine its link, if its card is missing.</summary>
    private async Task<BackupLink?> ReadLinkAsync(
        RestorePoint point, RestoreOptions? options, CancellationToken cancellationToken)
    {
        try
        {
            var part = new BackupPart(
                point.Object, async stop => await _place.OpenAsync(point.Object, stop).ConfigureAwait(false));
            BackupPartContents contents = await BackupPartContents.ReadAsync(
                new PartSource(KeysOf(point, options)).Of(part), cancellationToken).ConfigureAwait(false);
            return new BackupLink(
                contents.Hash, contents.Header.Commit,
                [.. contents.Stores.Select(static store => new StoreLink(store.Name, store.StoreId, store.Commit))]);
        }
        catch (Exception error) when (BackupException.From(error) is not null)
        {
            return null;
        }
    }
}

/// <summary>The end of a backup chain at a destination.</summary>
/// <param name="Link">The link from which the next part continues.</param>
public sealed record ChainEnd(BackupLink Link);

/// <summary>The target of a restore.</summary>
public sealed record RestoreWish
{
    /// <summary>The name of a backup whose end is restored. Null: any backups that reach the requested commit or time.</summary>
    public string? Object { get; init; }

    /// <summary>Restores exactly this commit.</summary>
    public long? Commit { get; init; }

    /// <summary>Restores the last commit up to this time (UTC).</summary>
    public DateTime? Time { get; init; }
}

/// <summary>The backups needed to restore a point in time.</summary>
/// <param name="Points">The information in their names, in the order in which they were taken.</param>
/// <param name="Parts">The parts, in the same order.</param>
/// <param name="StopAtCommit">The value for <see cref="RestoreOptions.StopAtCommit"/>.</param>
/// <param name="StopAtTime">The value for <see cref="RestoreOptions.StopAtTime"/>.</param>
public sealed record BackupSelection(
    IReadOnlyList<RestorePoint> Points, IReadOnlyList<BackupPart> Parts, long? StopAtCommit, DateTime? StopAtTime)
{
    /// <summary>The total size of the parts in bytes.</summary>
    public long LengthBytes => Points.Sum(static point => point.LengthBytes);
}
