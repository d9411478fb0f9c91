using System.Text;

namespace Treepie.Indexes.Computed;

/// <summary>What a map did for one batch; it counts once the batch is committed. Not thread-safe.</summary>
internal sealed class MapTally
{
    /// <summary>The number of documents that were mapped, with or without success.</summary>
    public long Attempts { get; private set; }

    /// <summary>The number of documents that could not be mapped.</summary>
    public long Errors { get; private set; }

    /// <summary>
    /// The maximum number of results of a document, if above <see cref="MapCounters.ManyResults"/>; otherwise 0.
    /// </summary>
    public int MostResults { get; private set; }

    /// <summary>The id of that document.</summary>
    public string MostResultsOf { get; private set; } = "";

    /// <summary>Counts a document that was mapped to the given number of results.</summary>
    public void Succeeded(int results, ReadOnlySpan<byte> id)
    {
        Attempts++;
        if (results > Math.Max(MapCounters.ManyResults, MostResults))
            (MostResults, MostResultsOf) = (results, Encoding.UTF8.GetString(id));
    }

    /// <summary>Counts a document that could not be mapped.</summary>
    public void Failed()
    {
        Attempts++;
        Errors++;
    }

    /// <summary>Adds the counts of another tally.</summary>
    public void Add(MapTally other)
    {
        Attempts += other.Attempts;
        Errors += other.Errors;
        if (other.MostResults > MostResults)
            (MostResults, MostResultsOf) = (other.MostResults, other.MostResultsOf);
    }

    public void Clear() => Set(0, 0, 0, "");

    /// <summary>Sets all counts.</summary>
    public void Set(long attempts, long errors, int mostResults, string mostResultsOf)
    {
        (Attempts, Errors) = (attempts, errors);
        (MostResults, MostResultsOf) = (mostResults, mostResultsOf);
    }
}
