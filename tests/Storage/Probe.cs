using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Tests;

/// <summary>Opens an environment that may be damaged, reads all of it, and writes to it, as an ordinary program would.</summary>
internal static class Probe
{
    /// <summary>
    /// Returns false after a typed error. Otherwise everything read must belong to one of the states. Fails if it does not,
    /// or on any other exception.
    /// </summary>
    public static bool Run(BuiltStore store, SimulatedDisk disk, Random random, string what)
    {
        try
        {
            using StorageEnvironment environment = BuiltStore.Open(disk, random, BuiltStore.Options with { ReadOnly = true });
            using ReadTransaction read = environment.BeginRead();
            bool isRight = store.States.TryGetValue(read.TransactionId, out Model? expected) && expected.IsEqual(read);
            bool isClean = environment.Check().IsClean;
            Assert.True(isRight || !isClean, $"{what}: other data, and nobody notices.");
            return isClean;
        }
        catch (StorageException)
        {
            return false;
        }
        catch (Exception error) when (error is not Xunit.Sdk.XunitException)
        {
            throw new InvalidOperationException($"{what}: {error.GetType().Name} instead of a typed error.", error);
        }
    }

    /// <summary>Reads everything, checks, writes, deletes and drops. Fails on anything except a typed error.</summary>
    public static void Survive(SimulatedDisk disk, Random random, string what)
    {
        try
        {
            using StorageEnvironment environment = BuiltStore.Open(disk, random);
            foreach (Action<StorageEnvironment> step in (Action<StorageEnvironment>[])
            [
                ReadAll, static e => e.Check(), Write, static e => e.Checkpoint(), static e => e.Check()
            ])
            {
                try
                {
                    step(environment);
                }
                catch (Exception error) when (error is StorageException or IOException)
                {
                    // Expected of a damaged store.
                }
            }
        }
        catch (StorageException)
        {
            // Refused when opened.
        }
        catch (Xunit.Sdk.TraceAssertException)
        {
            // Content with correct checksums that the engine did not write may violate its assertions, which are enabled
            // here but not in release builds.
        }
        catch (Exception error) when (error is not Xunit.Sdk.XunitException)
        {
            throw new InvalidOperationException($"{what}: {error.GetType().Name} instead of a typed error.", error);
        }
    }

    private static void ReadAll(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        foreach (string name in read.TreeNames)
        {
            try
            {
                ReadTree(read.FindTree(name));
            }
            catch (StorageException)
            {
                // Only this tree is affected; continue with the others.
            }
        }
    }

    private static void ReadTree(Tree? tree)
    {
        const int MaxSteps = 20_000; // forged pages can share children, which makes scans long
        if (tree is null)
            return;

        using Cursor cursor = tree.OpenCursor();
        int steps = 0;
        for (bool more = cursor.MoveFirst(); more && steps++ < MaxSteps; more = cursor.MoveNext())
        {
            _ = cursor.Value.Length;
            if (steps % 16 == 0)
                tree.TryGet(cursor.Key, out _);
        }

        steps = 0;
        for (bool more = cursor.MoveLast(); more && steps++ < MaxSteps; more = cursor.MovePrevious())
            _ = cursor.Key.Length;
        cursor.Seek("m"u8);
        cursor.SeekBefore("documents/1"u8);
    }

    private static void Write(StorageEnvironment environment)
    {
        string[] names;
        using (ReadTransaction read = environment.BeginRead())
            names = [.. read.TreeNames];
        for (int i = 0; i < 12; i++)
        {
            int turn = i;
            string name = names.Length == 0 ? "new" : names[turn % names.Length];
            try
            {
                environment.Write(transaction =>
                {
                    Tree tree = transaction.GetOrCreateTree(name);
                    using (Cursor cursor = tree.OpenCursor())
                    {
                        byte[][] keys = cursor.Seek(BitConverter.GetBytes(turn * 20)) ? [cursor.Key.ToArray()] : [];
                        foreach (byte[] key in keys)
                            tree.Delete(key);
                    }

                    tree.Put("documents/1"u8, new byte[turn * 400]);
                    tree.Put(BitConverter.GetBytes(turn), new byte[100]);
                    if (turn == 11)
                        transaction.DropTree(name);
                    return true;
                });
            }
            catch (StorageException)
            {
                // Only this command fails; continue with the others.
            }
        }
    }
}
