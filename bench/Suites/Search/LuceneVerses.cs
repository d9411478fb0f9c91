using System.Globalization;
using Treepie.Bench.Peers;

namespace Treepie.Bench.Suites.Search;

/// <summary>The texts in Lucene, in the one process of the run.</summary>
internal sealed class LuceneVerses : ISearchEngine
{
    private readonly LuceneProcess _process;

    /// <summary>Opens an index that is there.</summary>
    public LuceneVerses(LuceneProcess process, string path)
    {
        _process = process;
        double[] opened = process.Ask("open", path);
        (Documents, Segments) = ((int)opened[0], (int)opened[1]);
    }

    public string Name => "Lucene " + LuceneProcess.Version;

    public bool HasCompiler => true;

    /// <summary>Documents in it.</summary>
    public int Documents { get; }

    /// <summary>Segments it is of.</summary>
    public int Segments { get; }

    public SearchAnswer?[] Ask(IReadOnlyList<SearchQuestion> questions, double milliseconds = 0)
    {
        _process.Send(
            questions.Select(question => question.Line)
                .Prepend(string.Create(CultureInfo.InvariantCulture, $"ask\t{questions.Count}\t{milliseconds:0}")));
        return [.. questions.Select(_ => (SearchAnswer?)Read(_process.Read()))];
    }

    public void Dispose()
    {
        // The process goes on to the next index.
    }

    private static SearchAnswer Read(string line)
    {
        string[] parts = line.Split('\t');
        string[][] hits = [.. parts[3].Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(hit => hit.Split(':'))];
        return new SearchAnswer(
            long.Parse(parts[0], CultureInfo.InvariantCulture), parts[1] == "1",
            double.Parse(parts[2], CultureInfo.InvariantCulture) / 1000,
            [.. hits.Select(hit => long.Parse(hit[0], CultureInfo.InvariantCulture))],
            [.. hits.Select(hit => hit[1] == "NaN" ? 0 : double.Parse(hit[1], CultureInfo.InvariantCulture))])
        {
            FirstMicroseconds = double.Parse(parts[4], CultureInfo.InvariantCulture) / 1000,
        };
    }
}
