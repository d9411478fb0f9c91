using Microsoft.Extensions.Logging.Abstractions;
using Treepie.Server.Databases;

namespace Treepie.Server.Tests.Databases;

public sealed class DisabledDatabasesTests
{
    [Fact]
    public void A_database_that_is_enabled_while_a_request_finds_it_disabled_answers_the_next_one()
    {
        using Database database = Database.OpenInMemory();
        bool isDisabled = true;
        int reads = 0;
        DatabaseGate? gate = null;
        gate = new DatabaseGate(new SingleDatabaseSource(database), TimeProvider.System, NullLogger.Instance)
        {
            ReadsDisabled = _ =>
            {
                bool read = isDisabled;
                if (reads++ == 0)
                {
                    isDisabled = false;
                    gate!.StateChanged(database.Name);
                }

                return read;
            },
        };
        using (DatabaseLease? _ = gate.TryEnter(database.Name))
            Assert.False(gate.IsDisabled(database.Name));
        using DatabaseLease? next = gate.TryEnter(database.Name);
        Assert.NotNull(next);
        Assert.True(reads > 1);
    }
}
