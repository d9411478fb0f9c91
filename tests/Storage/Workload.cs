using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Tests;

/// <summary>Random changes, applied to both a transaction and the model.</summary>
internal sealed class Workload(Random random, WorkloadShape shape)
{
    private static readonly string[] _names = ["alpha", "beta", "gamma", "δέλτα"];

    /// <summary>Returns one command. It draws its changes in advance, so that it does the same each time it runs.</summary>
    public Func<WriteTransaction, bool> Next(Model model)
    {
        int seed = random.Next();
        Apply(new Random(seed), null, model);
        return transaction =>
        {
            Apply(new Random(seed), transaction, null);
            return true;
        };
    }

    private void Apply(Random draw, WriteTransaction? transaction, Model? model)
    {
        int steps = draw.Next(1, shape.MaxSteps + 1);
        for (int i = 0; i < steps; i++)
        {
            string name = _names[draw.Next(shape.Trees)];
            int action = draw.Next(1000);
            byte[] key = Key(draw);
            if (action < shape.DropPerMille)
            {
                transaction?.DropTree(name);
                model?.Drop(name);
            }
            else if (action < shape.DropPerMille + shape.DeletePerMille)
            {
                Tree? tree = transaction?.GetOrCreateTree(name);
                SortedDictionary<byte[], byte[]>? expected = model?.Tree(name);
                tree?.Delete(key);
                expected?.Remove(key);
            }
            else
            {
                byte[] value = Value(draw);
                if (transaction is not null)
                {
                    Tree tree = transaction.GetOrCreateTree(name);
                    if (draw.Next(2) == 0)
                        tree.Put(key, value);
                    else
                        value.CopyTo(tree.Reserve(key, value.Length));
                }
                else
                {
                    draw.Next(2);
                }

                if (model is not null)
                    model.Tree(name)[key] = value;
            }
        }
    }

    private byte[] Key(Random draw)
    {
        int number = draw.Next(shape.Keys);
        // The key is derived from its number, so that deletes and updates find existing keys.
        var own = new Random(number);
        string text = (number % 5) switch
        {
            0 => $"documents/{number:d8}",
            1 => new string((char)('a' + (number % 26)), own.Next(0, 40)) + number,
            2 => number.ToString(System.Globalization.CultureInfo.InvariantCulture),
            3 => number % 100 == 3 ? new string('x', own.Next(1500, Tree.MaxKeyBytes - 10)) + number : $"p/{number % 7}/{number}",
            _ => number % 1000 == 4 ? "" : $"documents/{number % 3}/{number}",
        };
        return System.Text.Encoding.UTF8.GetBytes(text);
    }

    private byte[] Value(Random draw)
    {
        int kind = draw.Next(100);
        int length = kind < 80 ? draw.Next(120) : kind < 97 ? draw.Next(2100) : draw.Next(shape.MaxValueBytes);
        var value = new byte[length];
        draw.NextBytes(value);
        return value;
    }
}

/// <summary>Parameters of a workload.</summary>
internal sealed record WorkloadShape
{
    public int Keys { get; init; } = 3000;

    public int Trees { get; init; } = 3;

    public int MaxSteps { get; init; } = 60;

    public int DeletePerMille { get; init; } = 400;

    public int DropPerMille { get; init; } = 1;

    public int MaxValueBytes { get; init; } = 60_000;
}
