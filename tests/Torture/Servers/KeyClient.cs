using System.Net;
using System.Text;
using System.Text.Json.Nodes;

namespace Treepie.Torture.Servers;

/// <summary>Changes the key of an encrypted database and rotates its data key.</summary>
internal sealed class KeyClient(Random random) : IStormClient
{
    private int _changed;
    private int _rotated;

    public string Report => $"{_changed} changes of the key, {_rotated} of the data key";

    public Task PrepareAsync(DatabaseClient database) => Task.CompletedTask;

    public async Task RunAsync(DatabaseClient database, Action acknowledged)
    {
        while (true)
        {
            if (random.Next(2) == 0)
            {
                byte[] key = new byte[32];
                random.NextBytes(key);
                (HttpStatusCode status, string text) = await database.TryAsync(
                    HttpMethod.Post, "admin/encryption/key",
                    new StringContent(Convert.ToBase64String(key), Encoding.ASCII, "text/plain"));
                ServerTortureException.ThrowUnless((int)status < 300, $"The change of keys is answered {(int)status}: {text}");
                _changed++;
            }
            else
            {
                // Not completed if a reader still needs an old key.
                JsonNode started = await database.SendAsync(HttpMethod.Post, "admin/encryption/rotate");
                _rotated += await database.EndOfAsync(started, isOfServer: false) is null ? 0 : 1;
            }

            acknowledged();
            await Task.Delay(random.Next(400));
        }
    }

    /// <summary>Nothing to verify: the database could be opened.</summary>
    public Task VerifyAsync(DatabaseClient database) => Task.CompletedTask;
}
