namespace Treepie.Writes;

/// <summary>Ends a batch that was only tried, so that all of it is undone, and brings its results out.</summary>
internal sealed class TrialEndedException(WriteResult[] results) : Exception("The batch was a trial; nothing of it was written.")
{
    private WriteResult[] Results { get; } = results;

    /// <summary>The results of a batch, which is undone.</summary>
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
