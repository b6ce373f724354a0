"""Turns of all kinds of conversations, with what a careful reader would mark them as; `-` is nothing."""

LABELLED = """
constraint | I'm allergic to peanuts.
constraint | By the way, my daughter is severely allergic to penicillin, is that a problem?
constraint | I have a tree nut allergy so please check the menu.
constraint | We're vegetarian.
constraint | I don't eat pork.
constraint | I use a wheelchair, so no stairs.
constraint | Never send document 4 to anyone outside the office.
constraint | Please never call me at work.
constraint | One rule: never deploy on a Friday.
constraint | The API keys must not be logged anywhere.
constraint | Always ask me before you book anything.
constraint | You must always cite the source.
constraint | The budget is $4,200, must be spent by March 15, except the printer line item which is excluded.
constraint | My budget is 300 euros.
constraint | It should cost no more than $50 per seat.
constraint | We can only spend 2000 dollars on this.
constraint | The report is due on Friday.
constraint | I need this delivered by December 24.
constraint | It has to be ready before noon.
constraint | The deadline for the application is 2026-03-15.
constraint | Don't email me about this again.
constraint | Do not use any external libraries.
constraint | Only send it to the billing address.
constraint | I can't travel on Saturdays.
constraint | Ich bin allergisch gegen N\u00fcsse.
constraint | \u6211\u5bf9\u82b1\u751f\u8fc7\u654f\u3002
constraint | Smoking is strictly forbidden in the flat.
constraint | All passwords need to be encrypted.
instruction | From now on answer in German.
instruction | Going forward, use metric units.
instruction | Remember that my wife handles the invoices.
instruction | Keep in mind: we close at six.
instruction | Make sure the tests pass before you merge.
instruction | Please answer in bullet points.
instruction | I'd like to return the blue jacket I bought last week.
instruction | Can I return this?
instruction | I want to cancel my subscription.
instruction | Please refund the second charge.
instruction | Whenever you quote a price, include tax.
fact | I already returned item 99.
fact | We have already paid the invoice.
fact | I've already tried resetting the router.
fact | Hello, I am in Germany and need 25 seats with SSO.
fact | I live in Lisbon now.
fact | We moved to Zurich last month.
fact | My name is Priya.
fact | Please call me Sam.
fact | I work for Contoso as a buyer.
fact | My order number is ORD-20240115.
fact | The tracking number is 1Z999AA10123456784.
fact | I liked the red one you showed earlier.
fact | I prefer aisle seats.
fact | My favourite colour is green.
decision | Let's go with option B.
decision | We decided to postpone the launch.
decision | I'll take the red one.
decision | Decision: we keep PostgreSQL.
decision | OK, we'll use the second plan.
- | Tell me more about the weather, part 3.
- | What does it cost?
- | Should I never restart the server?
- | Is there a deadline?
- | Do I have to be there by Friday?
- | I never got the email.
- | I have never been to Spain.
- | Never mind.
- | It never worked for me.
- | It has always been slow.
- | He always arrived late, but whatever.
- | I must have missed your call.
- | You must be joking.
- | There must be a mistake.
- | I must be mistaken.
- | Don't worry about it.
- | I don't know.
- | I don't think that is right.
- | Don't you think it looks odd
- | I can't log in.
- | I can't find the button.
- | It arrived before Friday.
- | The package was delivered by noon.
- | I'm in trouble with my boss.
- | I'm in a hurry.
- | I'm not allergic to anything.
- | She said "never call me again" and left.
- | The error says `must not be null`.
- | I like the idea.
- | I would like to know more about the plans.
- | I want to understand how this works.
- | We haven't decided yet.
- | If we go with option B, what happens?
- | How do I change the colour of the header?
- | Which one is cheaper?
- | That sounds good.
- | yes
- | ok
- | It costs about forty more than last year.
- | The red one looks nicer than the blue one.
- | Why does it say that the connection timed out?
- | The meeting went well.
- | Can you explain the second step again?
- | What is the budget for 2027?
- | I paid 40 euros for it.
- | Are the deadlines public?
- | I was told it would ship soon.
- | They only use Python there.
- | I remember that film.
- | Note the difference between both.
- | Tell me about returns.
- | What is your return policy?
- | I think we agree more or less.
- | Make it shorter.
- | Thanks, that helps.
- | It works now.
- | My order has not arrived.
- | Where is my order?
"""

HELD_OUT = """
constraint | Our son has a dairy intolerance.
constraint | Please never share my phone number with the landlord.
constraint | Invoices must not be sent before the audit is over.
constraint | The total has to be under 900 euros.
constraint | We need the visa by the end of the month.
constraint | Don't book anything with a layover.
constraint | Only use the staging database.
constraint | You must never round the amounts.
constraint | Always put the customer's name in the subject.
constraint | I am a strict vegan and my partner eats everything.
constraint | Submit the form no later than 3 April.
constraint | Up to $120 is fine, nothing above.
instruction | Please reply in French.
instruction | From now on, sign as The Support Team.
instruction | Can you cancel order 551?
instruction | I'd like to exchange the shoes for a larger size.
instruction | Be sure to copy my manager.
instruction | Please remember that I moved.
fact | We already contacted the manufacturer twice.
fact | I'm from Portugal originally.
fact | My account number is 88213.
fact | I hated the hotel near the station.
fact | I currently live in Austin.
fact | I've already uploaded both documents.
decision | Let's stick with the original plan.
decision | I have decided against the extended warranty.
decision | We'll take the corner office.
- | Could you tell me what the cap is?
- | That never occurred to me.
- | I don't see the difference.
- | You must have a lot of customers.
- | It was due to the weather.
- | She always says that.
- | The price went up by 20 euros before Christmas.
- | What happens if I miss the deadline on Friday?
- | I can't believe it.
- | Don't get me wrong, it is a fine product.
- | We were in Rome when it broke.
- | I'm in favour of the second one.
- | Only three of them work.
- | My neighbour's order came with a manual.
- | The budget airline lost my bag.
- | They already told me that.
- | It needs to be said that the food was great.
- | I work from home.
- | I would prefer not to say.
- | Do you always answer this fast?
- | I like the colour.
- | How do I return to the main menu?
- | Note to self.
- | Please tell me more about refunds.
- | It must be the cable.
- | I'm Sam.
- | Nothing is forbidden here.
"""
"""Written after the rules, and no rule was changed for it."""


def labelled(lines: str = LABELLED) -> list[tuple[str, str]]:
    """Each turn with the mark it deserves."""
    pairs = (line.split(" | ", 1) for line in lines.strip().splitlines())
    return [(mark, text) for mark, text in pairs]
