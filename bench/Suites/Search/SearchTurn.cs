using System.Diagnostics;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>A turn of an engine of this process: the questions are asked one after the other, again and again.</summary>
internal static class SearchTurn
{
    /// <summary>
    /// Asks for so many milliseconds, but each question once at the least. Of each question the answer, with the median of its
    /// times and the first of them.
    /// </summary>
    public static SearchAnswer?[] Ask(
        IReadOnlyList<SearchQuestion> questions, double milliseconds, Func<SearchQuestion, SearchAnswer> ask)
    {
        var answers = new SearchAnswer[questions.Count];
        List<double>[] times = [.. questions.Select(_ => new List<double>())];
        long began = Stopwatch.GetTimestamp();
        do
        {
            for (int i = 0; i < answers.Length; i++)
            {
                answers[i] = ask(questions[i]);
                times[i].Add(answers[i].Microseconds);
            }
        }
        while (Stopwatch.GetElapsedTime(began).TotalMilliseconds < milliseconds);

        return [
            .. answers.Select(
                (answer, i) => answer with { Microseconds = Statistics.Median(times[i]), FirstMicroseconds = times[i][0] })];
    }
}
