namespace Treepie.Bench.Suites.Search;

/// <summary>The questions of ten kinds, each with what users add to such questions.</summary>
internal static class MixedQuestions
{
    /// <summary>The part of a kind's name that says what was added.</summary>
    public const string Separator = ", ";

    /// <summary>The ten kinds.</summary>
    private static readonly string[] _kinds =
        ["term_high", "term_med", "and_hh", "and_hm", "and_mm", "or_hh", "or_hm", "or_hmm", "phrase2", "phrase3"];

    /// <summary>Makes of each question of the ten kinds one of each addition, the plain one first.</summary>
    public static IEnumerable<SearchQuestion> Make(SearchCorpus corpus, IReadOnlyList<SearchQuestion> plain)
    {
        const double Share = 0.3;
        string[] groups = [.. corpus.Documents.Select(document => document.Group).Distinct().Order(StringComparer.Ordinal)];
        long[] days = [.. corpus.Documents.Select(document => document.Day).Order()];
        (long, long) days80 = (days[days.Length / 10], days[days.Length * 9 / 10]);
        string[] frequent =
            [.. corpus.Frequencies.OrderByDescending(word => word.Value).ThenBy(word => word.Key, StringComparer.Ordinal)
                .Select(word => word.Key).Skip(20).Take(20)];
        foreach (string kind in _kinds)
        {
            SearchQuestion[] mine = [.. plain.Where(question => question.Kind == kind)];
            for (int addition = 0; addition < _additions.Length; addition++)
            {
                for (int i = 0; i < mine.Length; i++)
                {
                    long low = i * 7_919L % 700_000;
                    var room = new Values(
                        (low, low + (long)(Share * 1_000_000)), groups[i % groups.Length], days80,
                        frequent.First(word => !mine[i].Words.Contains(word)));
                    (string name, Func<Values, SearchMix?> make) = _additions[addition];
                    yield return mine[i] with { Kind = name.Length == 0 ? kind : kind + Separator + name, Mix = make(room) };
                }
            }
        }
    }

    private static readonly (string Name, Func<Values, SearchMix?> Make)[] _additions =
    [
        ("", static _ => null),
        ("a range", static values => new SearchMix { Number = values.Number }),
        ("a keyword", static values => new SearchMix { Group = values.Group }),
        ("a range, a keyword", static values => new SearchMix { Number = values.Number, Group = values.Group }),
        ("two ranges, a keyword",
            static values => new SearchMix { Number = values.Number, Group = values.Group, Day = values.Day }),
        ("a boost", static _ => new SearchMix { Boost = 2.5f }),
        ("without a word", static values => new SearchMix { Without = values.Without }),
        ("with its plan", static _ => new SearchMix { WithPlan = true }),
        ("a range, with its plan", static values => new SearchMix { Number = values.Number, WithPlan = true }),
        ("with facets", static _ => new SearchMix { WithFacets = true }),
        ("a keyword, by number", static values => new SearchMix { Group = values.Group, ByNumber = true }),
    ];

    private sealed record Values((long Low, long High) Number, string Group, (long Low, long High) Day, string Without);
}
