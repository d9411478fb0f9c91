using System.Linq.Expressions;
using Treepie.Linq;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Linq;

/// <summary>Characters are told apart by their case, and great numbers by their last digits.</summary>
public sealed class LinqLettersAndNumbersTests : IDisposable
{
    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _database.Dispose();

    [Fact]
    public async Task Orders_by_great_whole_numbers_tell_neighbours_apart()
    {
        const ulong Exact = 1UL << 53, Longs = 1UL << 63;
        ulong[] numbers =
        [
            Exact + 3, Longs - 1, Exact + 1, ulong.MaxValue, Exact, Longs - 2, Longs + 8192, Exact + 2, 7, Longs - 3, 0, Exact - 1,
        ];
        using DocumentSession session = _database.OpenSession();
        foreach ((int i, ulong number) in numbers.Index())
            session.Store(new Parcel { Id = i + 1, Big = number });
        await session.SaveChangesAsync(Token);
        Assert.Equal(
            numbers.Order(), (await session.Query<Parcel>().OrderBy(p => p.Big).ToListAsync(Token)).Select(p => p.Big));
        Assert.Equal(
            numbers.OrderDescending(),
            (await session.Query<Parcel>().OrderByDescending(p => p.Big).ThenBy(p => p.Id).ToListAsync(Token)).Select(p => p.Big));
        foreach (ulong bound in numbers.Where(static number => number < Longs))
        {
            Assert.Equal(
                numbers.Count(number => number > bound), await session.Query<Parcel>().CountAsync(p => p.Big > bound, Token));
            Assert.Equal(1, await session.Query<Parcel>().CountAsync(p => p.Big == bound, Token));
        }
    }

    [Fact]
    public async Task Groups_by_a_character_know_its_case()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            foreach ((char letter, int number) in "aAabBÄäé\"".Select(static (letter, number) => (letter, number + 1)))
                session.Store(new Parcel { Id = number, Letter = letter, Tiny = (byte)(number % 2), IsFragile = number > 2 });
            await session.SaveChangesAsync(Token);
        }

        using DocumentSession asked = _database.OpenSession();
        Parcel[] all = [.. await asked.Query<Parcel>().ToListAsync(Token)];
        async Task Same<TKey>(
            Expression<Func<Parcel, TKey>> key, Expression<Func<IGrouping<TKey, Parcel>, (char Letter, int Count)>> row,
            Expression<Func<Parcel, bool>>? before = null)
        {
            IDocumentQueryable<Parcel> query = asked.Query<Parcel>();
            query = before is null ? query : query.Where(before);
            Assert.Equal(
                all.Where(before?.Compile() ?? (static _ => true)).GroupBy(key.Compile()).Select(row.Compile()).Order(),
                (await query.GroupBy(key).Select(row).ToListAsync(Token)).Order());
        }

        await Same(p => p.Letter, g => new ValueTuple<char, int>(g.Key, g.Count()));
        await Same(p => p.Letter, g => new ValueTuple<char, int>(g.Key, g.Count()), p => p.Letter == 'a');
        await Same(p => p.Letter, g => new ValueTuple<char, int>(g.Key, g.Count()), p => p.Letter != 'A');
        await Same(
            p => new { p.Letter, p.Tiny }, g => new ValueTuple<char, int>(g.Key.Letter, g.Count()),
            p => p.Letter == 'A' || p.Letter == 'ä');
        char[] wanted = ['A', 'b'];
        await Same(p => p.Letter, g => new ValueTuple<char, int>(g.Key, g.Count()), p => wanted.Contains(p.Letter));
        IDocumentQueryable<LetterRow> rows = asked.Query<Parcel>()
            .GroupBy(p => p.Letter)
            .Select(g => new LetterRow { Letter = g.Key, Count = g.Count() });
        Assert.Equal([('a', 2)], (await rows.Where(r => r.Letter == 'a').ToListAsync(Token)).Select(r => (r.Letter, r.Count)));
        Assert.Equal(
            all.Select(p => char.ToLowerInvariant(p.Letter)).Order().Distinct(),
            (await rows.OrderBy(r => r.Letter).ToListAsync(Token)).Select(r => char.ToLowerInvariant(r.Letter)).Distinct());
    }

    private sealed class LetterRow
    {
        public char Letter { get; init; }

        public int Count { get; init; }
    }
}
