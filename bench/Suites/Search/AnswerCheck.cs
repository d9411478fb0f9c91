namespace Treepie.Bench.Suites.Search;

/// <summary>Holds answers of engines against each other, so that nobody is fast by being wrong.</summary>
internal static class AnswerCheck
{
    /// <summary>How far scores may be apart, as a share: floats are added up in another order.</summary>
    private const double ScoreTolerance = 1e-5;

    /// <exception cref="InvalidOperationException">They differ.</exception>
    public static void Compare(SearchQuestion question, SearchAnswer ours, SearchAnswer theirs, string name)
    {
        bool isTotalRight = !ours.IsExact || (theirs.IsExact ? ours.Total == theirs.Total : ours.Total >= theirs.Total);
        if (!isTotalRight)
            throw new InvalidOperationException($"'{question.Line}': {ours.Total} hits, {name} finds {theirs.Total}.");
        if (question.Form == SearchForm.Prefix || (question.IsScored && theirs.Scores.Length == 0))
            return; // they come in no order, or in one by scores that are reckoned otherwise
        if (ours.Ids.Length != theirs.Ids.Length)
            throw new InvalidOperationException(
                $"'{question.Line}': {ours.Ids.Length} hits on the page, {name} gives {theirs.Ids.Length}.");
        int filters = question.Mix?.Filters ?? 0; // each counts 1 with us, and nothing elsewhere
        for (int i = 0; i < ours.Ids.Length; i++)
        {
            double expected = question.IsScored ? theirs.Scores[i] + filters : 0;
            if (question.IsScored && Math.Abs(ours.Scores[i] - expected) > ScoreTolerance * expected)
                throw new InvalidOperationException(
                    $"'{question.Line}': hit {i + 1} scores {ours.Scores[i]}, {name} says {expected}.");
            if (ours.Ids[i] != theirs.Ids[i] && !(question.IsScored && HasNearScore(ours, i)))
                throw new InvalidOperationException(
                    $"'{question.Line}': hit {i + 1} is {ours.Ids[i]}, {name} has {theirs.Ids[i]}.");
        }
    }

    /// <summary>Whether a hit beside it, or one just behind the page, may score the same but for rounding.</summary>
    private static bool HasNearScore(SearchAnswer answer, int place) =>
        place == answer.Scores.Length - 1
        || answer.Scores[place] - answer.Scores[place + 1] <= ScoreTolerance * answer.Scores[place]
        || (place > 0 && answer.Scores[place - 1] - answer.Scores[place] <= ScoreTolerance * answer.Scores[place]);
}
