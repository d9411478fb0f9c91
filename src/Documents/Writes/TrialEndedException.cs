namespace Treepie.Writes;

/// <summary>Ends a dry run of a batch, so that all of it is undone, and carries its results.</summary>
internal sealed class TrialEndedException(WriteResult[] results) : Exception("The batch was a trial; nothing of it was written.")
{
    private WriteResult[] Results { get; } = results;

    /// <summary>Returns the results of a batch that is undone.</summary>
    public static async Task<WriteResult[]> ResultsAsync(Task<WriteResult[]> writing)
    {
        try
        {
            return await writing.ConfigureAwait(false);
        }
        catch (TrialEndedException ended)
        {
            return ended.Results;
        }
    }
}
