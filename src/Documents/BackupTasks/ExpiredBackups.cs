using Treepie.Destinations;

namespace Treepie.BackupTasks;

/// <summary>
/// Deletes the backups of a task that have expired, at each destination by itself, see <see cref="Retention"/>.
/// </summary>
internal sealed class ExpiredBackups(
    Database database, BackupTask task, IReadOnlyList<(BackupDestination Destination, string Address)> places, TimeProvider clock)
{
    /// <summary>
    /// Deletes expired backups from their destinations; those that cannot be deleted remain in the list and are retried in
    /// the next run. So are those that are left when the run is cancelled, whose own backup stays: it may be what allowed
    /// others to be deleted.
    /// </summary>
    public async Task<(IReadOnlyList<KeptBackup> Kept, IReadOnlyList<string> Deleted)> DeleteAsync(
        IReadOnlyList<KeptBackup> all, CancellationToken cancellationToken)
    {
        var kept = all.ToList();
        var deleted = new List<string>();
        int expired = Retention.Expired(kept, task.CreatedAt, task.KeepFor, clock.GetUtcNow().UtcDateTime);
        int atLeast = Math.Max(1, task.KeepAtLeast);
        var cards = new BackupCards();
        foreach ((BackupDestination destination, string address) in places)
        {
            List<KeptBackup> here = kept.FindAll(backup => backup.Addresses.Contains(address));
            IReadOnlyList<KeptBackup> deletable = Retention.Deletable(here, IsOld, task.KeepAtLeast);
            foreach (KeptBackup old in kept.FindAll(
                backup => backup.Unproven.Contains(address) && IsOld(backup) && NewerAt(address, backup) >= atLeast))
                if (await TryDeleteAsync(old.Object, destination, cards, cancellationToken).ConfigureAwait(false))
                    kept[kept.IndexOf(old)] = old with { Unproven = [.. old.Unproven.Where(other => other != address)] };
            if (deletable.Count == 0)
                continue;

            // the first by name, which differs from the first in the list after a clock that was wrong
            string first = here.Except(deletable).Select(static left => left.Object).Min(StringComparer.Ordinal)!;
            await DeleteLogsAsync(first, destination, address, cards, deleted, cancellationToken).ConfigureAwait(false);
            foreach (KeptBackup old in deletable)
                if (await TryDeleteAsync(old.Object, destination, cards, cancellationToken).ConfigureAwait(false))
                    kept[kept.IndexOf(old)] = old with { Addresses = [.. old.Addresses.Where(other => other != address)] };
        }

        // The last is where the next increment would continue, also if it is nowhere.
        foreach (KeptBackup gone in kept.SkipLast(1).Where(IsGone).ToList())
        {
            kept.Remove(gone);
            deleted.Add(gone.Object);
        }

        return (kept, deleted);

        int NewerAt(string address, KeptBackup backup) => kept.Skip(kept.IndexOf(backup) + 1).Count(
            other => other.Addresses.Contains(address) || other.Unproven.Contains(address));

        bool IsOld(KeptBackup backup) => kept.IndexOf(backup) < expired;

        bool IsGone(KeptBackup backup) =>
            IsOld(backup) && !backup.Addresses.Any(IsPlace) && !backup.Unproven.Any(IsPlace);
    }

    /// <summary>Returns whether this is still a destination of the task: objects of others must not be deleted.</summary>
    private bool IsPlace(string address) => places.Any(place => place.Address == address);

    /// <summary>
    /// Deletes log backups at a destination that are older than the first backup that is kept there: the states they lead to are
    /// either reachable from the kept backups or have expired.
    /// </summary>
    private async Task DeleteLogsAsync(
        string before, BackupDestination destination, string address, BackupCards cards, List<string> deleted,
        CancellationToken cancellationToken)
    {
        if (task.Id == 0)
            return;
        var changed = new List<KeptLog>();
        foreach (KeptLog old in BackupTaskStore.Of(database).ListLogs(task.Id, before).Reverse())
        {
            bool isHere = old.Addresses.Contains(address)
                && !await TryDeleteAsync(old.Object, destination, cards, cancellationToken).ConfigureAwait(false);
            string[] left = [.. old.Addresses.Where(other => IsPlace(other) && (isHere || other != address))];
            changed.Add(old with { Addresses = left });
            if (left.Length == 0)
                deleted.Add(old.Object);
        }

        if (changed.Count > 0)
            await BackupTaskStore.Of(database).PutLogsAsync(task.Id, changed).ConfigureAwait(false);
    }

    /// <summary>Deletes an object and its cards from a destination; returns whether it succeeded.</summary>
    public static async Task<bool> TryDeleteAsync(
        string name, BackupDestination destination, BackupCards cards, CancellationToken cancellationToken)
    {
        try
        {
            foreach (string card in await cards.OfAsync(destination, name, cancellationToken).ConfigureAwait(false))
                await destination.DeleteAsync(card, cancellationToken).ConfigureAwait(false);
            await destination.DeleteAsync(name, cancellationToken).ConfigureAwait(false);
            return true;
        }
        catch (Exception error) when (error is DestinationException or OperationCanceledException)
        {
            return false;
        }
    }
}
