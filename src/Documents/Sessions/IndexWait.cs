namespace Treepie.Sessions;

/// <summary>How saves wait for indexes.</summary>
internal sealed record IndexWait(TimeSpan Timeout, IReadOnlyList<string>? Indexes, bool ThrowsOnTimeout)
{
    public async Task WaitAsync(ISessionHost database, CancellationToken cancellationToken)
    {
        if (!await database.Indexes.WaitForNonStaleAsync(Timeout, Indexes, cancellationToken).ConfigureAwait(false)
            && ThrowsOnTimeout)
        {
            throw new TimeoutException(
                $"The changes are saved and durable, but the indexes had not seen them within {Timeout}. Wait longer, or let "
                    + $"queries include changes that indexes have not seen (the default of sessions).");
        }
    }
}
