using Treepie.Computing.Values;
using F1 = System.Func<Treepie.Computing.Values.Value, Treepie.Computing.Values.Value>;
using F2 = System.Func<Treepie.Computing.Values.Value, Treepie.Computing.Values.Value, Treepie.Computing.Values.Value>;

namespace Treepie.Computing.CSharp;

/// <summary>Methods of sequences, which can be called on arrays. Each public method is part of the vocabulary.</summary>
internal static class SequenceMethods
{
    public static Value Select(Run run, Value self, F1 map) => Seq(run.Each(self).Select(map));

    public static Value Select(Run run, Value self, F2 map) =>
        Seq(run.Each(self).Select((item, place) => map(item, Value.Of((long)place))));

    public static Value SelectMany(Run run, Value self, F1 map) => Seq(run.Each(self).SelectMany(item => run.Each(map(item))));

    public static Value SelectMany(Run run, Value self, F1 map, F2 result) =>
        Seq(run.Each(self).SelectMany(item => run.Each(map(item)), (item, inner) => result(item, inner)));

    public static Value Where(Run run, Value self, F1 filter) => Seq(run.Each(self).Where(item => filter(item).IsTrue));

    public static Value Where(Run run, Value self, F2 filter) =>
        Seq(run.Each(self).Where((item, place) => filter(item, Value.Of((long)place)).IsTrue));

    public static Value GroupBy(Run run, Value self, F1 key) =>
        Seq(ValueGroup.By(run.Each(self).Select(item => (key(item), item))));

    public static Value GroupBy(Run run, Value self, F1 key, F1 element) =>
        Seq(ValueGroup.By(run.Each(self).Select(item => (key(item), element(item)))));

    public static Value Any(Run run, Value self) => Value.Of(run.Each(self).Any());

    public static Value Any(Run run, Value self, F1 filter) => Value.Of(run.Each(self).Any(item => filter(item).IsTrue));

    public static Value All(Run run, Value self, F1 filter) => Value.Of(run.Each(self).All(item => filter(item).IsTrue));

    public static Value Count(Run run, Value self) => Value.Of((long)run.Each(self).Count());

    public static Value Count(Run run, Value self, F1 filter) =>
        Value.Of((long)run.Each(self).Count(item => filter(item).IsTrue));

    public static Value LongCount(Run run, Value self) => Count(run, self);

    public static Value Sum(Run run, Value self) => Total(run, run.Each(self));

    public static Value Sum(Run run, Value self, F1 map) => Total(run, run.Each(self).Select(map));

    public static Value Min(Run run, Value self) => Least(run.Each(self), 1);

    public static Value Min(Run run, Value self, F1 map) => Least(run.Each(self).Select(map), 1);

    public static Value Max(Run run, Value self) => Least(run.Each(self), -1);

    public static Value Max(Run run, Value self, F1 map) => Least(run.Each(self).Select(map), -1);

    public static Value Average(Run run, Value self) => Mean(run, run.Each(self));

    public static Value Average(Run run, Value self, F1 map) => Mean(run, run.Each(self).Select(map));

    public static Value First(Run run, Value self) => Required(run.Each(self), "First");

    public static Value First(Run run, Value self, F1 filter) =>
        Required(run.Each(self).Where(item => filter(item).IsTrue), "First");

    public static Value FirstOrDefault(Run run, Value self) => run.Each(self).FirstOrDefault(Value.Null);

    public static Value FirstOrDefault(Run run, Value self, F1 filter) =>
        run.Each(self).FirstOrDefault(item => filter(item).IsTrue, Value.Null);

    public static Value Last(Run run, Value self) => Required(run.Each(self).Reverse(), "Last");

    public static Value Last(Run run, Value self, F1 filter) =>
        Required(run.Each(self).Where(item => filter(item).IsTrue).Reverse(), "Last");

    public static Value LastOrDefault(Run run, Value self) => run.Each(self).LastOrDefault(Value.Null);

    public static Value LastOrDefault(Run run, Value self, F1 filter) =>
        run.Each(self).LastOrDefault(item => filter(item).IsTrue, Value.Null);

    public static Value Single(Run run, Value self) =>
        Only(run.Each(self), "Single") is { Kind: not ValueKind.Missing } one
            ? one
            : throw new ComputingException("'Single' finds nothing.");

    public static Value SingleOrDefault(Run run, Value self) => OrNull(Only(run.Each(self), "SingleOrDefault"));

    public static Value SingleOrDefault(Run run, Value self, F1 filter) =>
        OrNull(Only(run.Each(self).Where(item => filter(item).IsTrue), "SingleOrDefault"));

    public static Value ElementAt(Run run, Value self, Value place) => MemberAccess.At(Seq(run.Each(self)), place);

    public static Value ElementAtOrDefault(Run run, Value self, Value place) => MemberAccess.At(Seq(run.Each(self)), place);

    public static Value DefaultIfEmpty(Run run, Value self) => Seq(run.Each(self).DefaultIfEmpty(Value.Null));

    public static Value DefaultIfEmpty(Run run, Value self, Value other) => Seq(run.Each(self).DefaultIfEmpty(other));

    public static Value Distinct(Run run, Value self) => Seq(run.Each(self).Distinct());

    public static Value DistinctBy(Run run, Value self, F1 key) => Seq(run.Each(self).DistinctBy(key));

    public static Value OrderBy(Run run, Value self, F1 key) =>
        Seq(new SortedValues(run.Each(self).OrderBy(key, ValueOrder.Instance), 1));

    public static Value OrderByDescending(Run run, Value self, F1 key) =>
        Seq(new SortedValues(run.Each(self).OrderByDescending(key, ValueOrder.Instance), 1));

    public static Value ThenBy(Run run, Value self, F1 key) =>
        self.Items is SortedValues sorted
            ? Seq(sorted.Then(items => items.ThenBy(key, ValueOrder.Instance)))
            : OrderBy(run, self, key);

    public static Value ThenByDescending(Run run, Value self, F1 key) =>
        self.Items is SortedValues sorted
            ? Seq(sorted.Then(items => items.ThenByDescending(key, ValueOrder.Instance)))
            : OrderByDescending(run, self, key);

    public static Value Reverse(Run run, Value self) => self.Kind == ValueKind.String
        ? Seq(self.Text.Reverse().Select(one => Value.Of(one.ToString())))
        : Seq(run.Each(self).Reverse());

    public static Value Concat(Run run, Value self, Value other) => Seq(run.Each(self).Concat(run.Each(other)));

    public static Value Union(Run run, Value self, Value other) => Seq(run.Each(self).Union(run.Each(other)));

    public static Value Intersect(Run run, Value self, Value other) => Seq(run.Each(self).Intersect(run.Each(other)));

    public static Value Except(Run run, Value self, Value other) => Seq(run.Each(self).Except(run.Each(other)));

    public static Value Append(Run run, Value self, Value other) => Seq(run.Each(self).Append(other));

    public static Value Prepend(Run run, Value self, Value other) => Seq(run.Each(self).Prepend(other));

    public static Value Take(Run run, Value self, Value count) => Seq(run.Each(self).Take(Conversions.Int(count)));

    public static Value Skip(Run run, Value self, Value count) => Seq(run.Each(self).Skip(Conversions.Int(count)));

    public static Value TakeWhile(Run run, Value self, F1 filter) => Seq(run.Each(self).TakeWhile(item => filter(item).IsTrue));

    public static Value SkipWhile(Run run, Value self, F1 filter) => Seq(run.Each(self).SkipWhile(item => filter(item).IsTrue));

    public static Value Zip(Run run, Value self, Value other, F2 map) =>
        Seq(run.Each(self).Zip(run.Each(other), (left, right) => map(left, right)));

    public static Value ToArray(Run run, Value self) => Seq(run.Each(self).ToList());

    public static Value ToList(Run run, Value self) => Seq(run.Each(self).ToList());

    public static Value ToHashSet(Run run, Value self) => Distinct(run, self);

    public static Value AsEnumerable(Run run, Value self) => Seq(run.Each(self));

    public static Value Cast(Run run, Value self) => Seq(run.Each(self));

    public static Value OfType(Run run, Value self) => Seq(run.Each(self).Where(item => !item.IsNothing));

    public static Value ToDictionary(Run run, Value self, F1 key) => ToDictionary(run, self, key, static item => item);

    public static Value ToDictionary(Run run, Value self, F1 key, F1 element)
    {
        var made = new Dictionary<string, Value>(StringComparer.Ordinal);
        foreach (Value item in run.Each(self))
        {
            if (!made.TryAdd(Conversions.Text(key(item)), element(item)))
                throw new ComputingException($"'ToDictionary' has the key '{Conversions.Text(key(item))}' twice.");
        }

        return Value.Of(new NamedValues(made));
    }

    public static Value Aggregate(Run run, Value self, F2 step) => run.Each(self).Aggregate((one, other) => step(one, other));

    public static Value Aggregate(Run run, Value self, Value seed, F2 step) =>
        run.Each(self).Aggregate(seed, (one, other) => step(one, other));

    public static Value Aggregate(Run run, Value self, Value seed, F2 step, F1 result) =>
        result(Aggregate(run, self, seed, step));

    private static Value Seq(IEnumerable<Value> items) => Value.Of(items);

    private static Value Total(Run run, IEnumerable<Value> items)
    {
        Value sum = Value.Of(0L);
        foreach (Value item in items)
            if (!item.IsNothing)
                sum = Operators.Add(run, sum, Conversions.Number(item));
        return sum;
    }

    private static Value Mean(Run run, IEnumerable<Value> items)
    {
        List<Value> numbers = [.. items.Where(static item => !item.IsNothing)];
        if (numbers.Count == 0)
            return Value.Null;
        Value sum = Total(run, numbers);
        return Operators.Divide(sum.Kind == ValueKind.Long ? Value.Of(sum.AsDouble()) : sum, Value.Of((long)numbers.Count));
    }

    private static Value Least(IEnumerable<Value> items, int sign)
    {
        Value best = Value.Null;
        foreach (Value item in items)
            if (!item.IsNothing && (best.IsNothing || sign * ValueOrder.Instance.Compare(item, best) < 0))
                best = item;
        return best;
    }

    private static Value Required(IEnumerable<Value> items, string method)
    {
        foreach (Value item in items)
            return item;
        throw new ComputingException($"'{method}' finds nothing; '{method}OrDefault' gives null then.");
    }

    private static Value OrNull(Value found) => found.Kind == ValueKind.Missing ? Value.Null : found;

    private static Value Only(IEnumerable<Value> items, string method)
    {
        List<Value> two = [.. items.Take(2)];
        return two.Count < 2
            ? two.FirstOrDefault(Value.Missing)
            : throw new ComputingException($"'{method}' finds more than one.");
    }
}
