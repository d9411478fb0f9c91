using System.Linq.Expressions;
using Treepie.Linq;

namespace Treepie.Documents.Tests.Linq;

#pragma warning disable CA1304, CA1311, CA1827, CA1862 // conditions as users write them

/// <summary>Random conditions of every kind that LINQ has an answer for.</summary>
internal static class OrderConditions
{
    /// <summary>The words of documents and conditions.</summary>
    public static readonly string[] Words = ["ash", "birch", "cedar", "elm", "fir", "oak", "a.b", "x y", ""];

    public static string Word(Random random) => Words[random.Next(Words.Length)];

    /// <summary>A random condition: one of the kinds there are, or several joined.</summary>
    public static Expression<Func<Order, bool>> Joined(Random random, int depth)
    {
        if (depth == 0)
            return Leaf(random);
        Expression<Func<Order, bool>> left = Joined(random, depth - 1), right = Joined(random, random.Next(depth));
        Expression other = new Parameter(right.Parameters[0], left.Parameters[0]).Visit(right.Body);
        Expression joined = random.Next(5) switch
        {
            0 or 1 => Expression.AndAlso(left.Body, other),
            2 or 3 => Expression.OrElse(left.Body, other),
            _ => Expression.Not(left.Body),
        };
        return Expression.Lambda<Func<Order, bool>>(joined, left.Parameters);
    }

    /// <summary>A random condition of one kind.</summary>
    public static Expression<Func<Order, bool>> Leaf(Random random)
    {
        string word = Word(random);
        string[] words = [word, Word(random)];
        int number = random.Next(-3, 12), other = number + random.Next(4);
        int[] numbers = [number, other];
        double real = Math.Round(random.NextDouble() * 20, 1);
        DayOfWeek[] days = [(DayOfWeek)random.Next(7), DayOfWeek.Friday];
        HashSet<string> wanted = [.. words];
        var flag = (OrderFlags)random.Next(8);
        DateTime day = new DateTime(2022, 1, 1).AddDays(random.Next(3 * 365));
        OrderStatus status = (OrderStatus)random.Next(4);
        Expression<Func<Order, bool>>[] leaves =
        [
            o => o.City == word,
            o => o.City != word,
            o => o.City == null,
            o => o.Number > number,
            o => number >= o.Number,
            o => o.Number != number,
            o => o.Rating < number,
            o => o.Number >= o.Rating,
            o => o.Lines.Any(l => l.Amount > o.Number),
            o => o.City == o.Comment,
            o => o.Rating == null || o.Rating >= number,
            o => o.Rating.HasValue && o.Rating.Value == number,
            o => o.Freight < real,
            o => o.Price >= (decimal)real,
            o => o.Serial > number * 10 || o.Number == 1,
            o => o.IsPaid,
            o => !o.IsPaid,
            o => o.IsPaid == (number > 3),
            o => o.Status == status,
            o => o.Status != status,
            o => o.Status >= status,
            o => o.OrderedAt < day,
            o => o.OrderedAt >= day && o.OrderedAt <= day.AddDays(200),
            o => o.OrderedAt.Year == 2023,
            o => o.OrderedAt.Date == day,
            o => o.Id == "orders/" + number,
            o => o.Id!.StartsWith("orders/1"),
            o => words.Contains(o.City),
            o => o.City.In(words),
            o => numbers.Contains(o.Number),
            o => o.ShipTo == null,
            o => o.ShipTo != null && o.ShipTo.City == word,
            o => o.ShipTo != null && o.ShipTo.Lat > number * 5,
            o => o.Tags.Contains(word),
            o => !o.Tags.Contains(word),
            o => o.Tags.ContainsAny(words),
            o => o.Tags.ContainsAll(words),
            o => o.Tags.Any(),
            o => o.Tags.Length == 2,
            o => o.Marks.Count > number,
            o => o.Marks.Count < 2,
            o => o.Marks.Any(m => m > number),
            o => o.Marks.Any(m => m != number),
            o => o.Marks.Any(m => m > number && m < other),
            o => o.Marks.All(m => m >= number),
            o => o.Marks.All(m => m != number),
            o => o.Lines.Any(l => l.Sku == word),
            o => o.Lines.Any(l => l.Amount >= number && l.Amount <= other),
            o => o.Lines.Any(l => l.Sku == word || l.Amount == number),
            o => o.Lines.All(l => l.Amount < number),
            o => o.Lines.Any(l => l.Colors.Contains(word)),
            o => o.Lines.Any(l => l.Sku == word && l.Amount > number),
            o => o.Lines.Any(l => l.Sku != word && l.Amount <= other),
            o => o.Lines.Any(l => (l.Sku == word || l.Colors.Contains(word)) && l.Amount != number),
            o => o.Lines.Any(l => l.Sku == word && l.Amount > number && o.IsPaid),
            o => o.Lines.Any(l => l.Amount == number || (o.IsPaid && l.Sku == word)),
            o => o.Lines.Any(l => o.IsPaid || l.Amount > 20),
            o => o.Lines.All(l => o.IsPaid),
            o => o.Lines.Any(l => !l.Colors.Contains(word)),
            o => o.Lines.Any(l => l.Colors.Count == 1 && l.Amount < other),
            o => o.Lines.All(l => l.Sku != word || l.Amount > number),
            o => o.Lines.All(l => l.Colors.Any(c => c == word || c == "elm")),
            o => o.Lines.Any(
                l => l.Amount > number && l.Colors.Any(c => c != word && c.StartsWith("bi", StringComparison.Ordinal))),
            o => o.Lines.Any(l => l.Amount > number && words.Contains(l.Sku)) || o.Number == number,
            o => o.Lines.Select(l => l.Sku).Any(s => s == word),
            o => o.Lines.SelectMany(l => l.Colors).Any(c => c == word),
            o => o.Lines.SelectMany(l => l.Colors).Any(c => c != word && c.StartsWith("el", StringComparison.Ordinal)),
            o => o.Lines.Select(l => l.Amount).All(a => a > number && a != other),
            o => o.Tags.Any(t => t != word && t.EndsWith("ch", StringComparison.Ordinal)),
            o => o.Marks.Any(m => m > number && m != other),
            o => !o.Marks.Any(m => m > number && m != other) || o.IsPaid,
            o => o.Lines.Any(l => l.Colors.Any(c => c == word)),
            o => o.Lines.SelectMany(l => l.Colors).Contains(word),
            o => o.Lines.Count > 0 && o.Lines[0].Sku == word,
            o => o.City != null && o.City.StartsWith("as"),
            o => o.City != null && o.City.EndsWith("ir"),
            o => o.Comment != null && o.Comment.Contains("r "),
            o => o.Comment != null && o.Comment.Contains("a.b"),
            o => string.IsNullOrEmpty(o.City),
            o => string.IsNullOrWhiteSpace(o.Comment),
            o => o.City != null && string.CompareOrdinal(o.City, word) > 0,
            o => o.City != null && System.Text.RegularExpressions.Regex.IsMatch(o.City, "^[a-c].*h?$"),
            o => o.Counts.ContainsKey("elm"),
            o => o.Flags.HasFlag(OrderFlags.Gift),
            o => o.Flags.HasFlag(flag),
            o => (o.Flags & flag) == flag,
            o => (o.Flags & OrderFlags.Express) != 0,
            o => o.Wishes.HasValue && o.Wishes.Value.HasFlag(flag),
            o => o.City != null && o.City.Length > number,
            o => o.City != null && 4 >= o.City.Length,
            o => o.City != null && o.City.ToLower() == word,
            o => o.City != null && o.City.ToUpperInvariant() == "OAK",
            o => string.Equals(o.City, word, StringComparison.OrdinalIgnoreCase),
            o => o.OrderedAt.Month == 5,
            o => o.OrderedAt.Day > 20,
            o => o.OrderedAt.Hour < 8 && o.OrderedAt.Year >= 2023,
            o => o.OrderedAt.DayOfWeek == DayOfWeek.Monday,
            o => days.Contains(o.OrderedAt.DayOfWeek),
            o => o.OrderedAt.DayOfYear <= 100 && o.OrderedAt.Minute == 0,
            o => o.SeenAt.Year == 2023,
            o => o.SeenAt.Year != 2023,
            o => o.SeenAt.Year < 2024,
            o => o.SeenAt.Year > 2022,
            o => o.SeenAt.Date == day,
            o => o.SeenAt.Date >= day,
            o => !(o.SeenAt.Date <= day),
            o => o.SeenAt.Month == 12 || o.SeenAt.Hour == 3,
            o => o.SeenAt.UtcDateTime >= day,
            o => o.Marks.Count(m => m > number) >= 1,
            o => o.Marks.Count(m => m > number) > 1,
            o => o.Marks.Count(m => m > number) == 2,
            o => o.Marks.Count(m => m > number) < 1,
            o => o.Lines.Count(l => l.Amount > number && l.Sku == word) != 1,
            o => o.Lines.Any(l => l.Sku != null && l.Sku.Length == 3 && l.Amount > number),
            o => o.Lines.Any(l => l.Colors.Count(c => c.Length > 3) > 0),
            o => o.Lines.All(l => l.Sku!.Length < 5),
            o => o.Marks.Count < 100,
            o => words.Any(w => o.City == w),
            o => words.Any(w => o.Tags.Contains(w)),
            o => words.All(w => o.Tags.Contains(w) || o.IsPaid),
            o => words.Contains(o.City, StringComparer.OrdinalIgnoreCase),
            o => words.AsEnumerable().Contains(o.City, StringComparer.Ordinal),
            o => wanted.Contains(o.City!),
            o => o.Tags.Contains(word, StringComparer.OrdinalIgnoreCase),
            o => o.Counts.ContainsKey("oak") && o.Counts["oak"] > number,
            o => number > 4,
        ];
        return leaves[random.Next(leaves.Length)];
    }

    private sealed class Parameter(ParameterExpression from, ParameterExpression to) : ExpressionVisitor
    {
        protected override Expression VisitParameter(ParameterExpression node) => node == from ? to : node;
    }
}
